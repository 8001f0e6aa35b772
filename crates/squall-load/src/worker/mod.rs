//! The threads: one event loop each, with its own connections, nothing shared while it runs.
//!
//! [`Worker`](event_loop::Worker) owns the loop, [`Driver`](driver::Driver) the connections that
//! carry requests. The main thread steers through [`Control`](control::Control), which a worker
//! looks at once a turn.

mod error;

mod control;

mod token;

mod timer;

mod factory;

mod source;

mod slot;

mod driver;

mod sending;

mod lifecycle;

mod ticking;

mod event_loop;

pub(crate) use control::{Control, Message, Messages};
pub(crate) use driver::Part;
pub use error::WorkerError;
pub(crate) use event_loop::{Outcome, Worker};
pub(crate) use lifecycle::with_buffer;
pub(crate) use token::{Owner, WAKER, token};
