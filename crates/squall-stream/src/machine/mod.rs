//! The stream state machine: pure decisions from state, request and time.
//!
//! An engine loads a [`StreamState`], asks for a decision, writes what the plan says,
//! and applies the plan to its overlay. It decides nothing by itself.

mod append;
mod create;
mod read;
mod state;

pub use append::{AppendDecision, AppendPlan, decide_append};
pub use create::{CreateDecision, decide_create, plan_create};
pub use read::{check_inside, resolve_read, resolve_trim};
pub use state::{Closing, StreamState};
