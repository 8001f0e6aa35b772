//! The threads that read: a bounded pool, each with a connection of its own.
//!
//! A read is one short transaction, never held while anybody waits for a socket, and is
//! interrupted when it takes too long: an old snapshot keeps the log from starting over.

mod pool;

mod deadline;
mod list;
mod locate;
mod page;
mod session;

pub(crate) use pool::Readers;
pub(crate) use session::Session;
