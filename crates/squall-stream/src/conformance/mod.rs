//! What makes an engine an engine: the suite that every [`StreamStore`] passes.
//!
//! Test code behind the feature `conformance`. [`run`] goes through named cases, each on
//! a store of its own; [`random_operations`] compares random operations with a model
//! written from the rules, without the state machine. Both take a function that makes an
//! [`Engine`]. Where an answer is wrong they panic, naming the case or the smallest
//! operations that show it.
//!
//! [`StreamStore`]: crate::StreamStore

mod engine;
mod record;
mod stage;
mod wait;

mod cases;

mod model;
mod operation;
mod random;

pub use cases::run;
pub use engine::{Engine, Setup};
pub use model::{Model, Outcome};
pub use operation::{Operation, any_operation, limits as operation_limits};
pub use random::random_operations;
pub use record::Record;
pub use wait::block_on;
