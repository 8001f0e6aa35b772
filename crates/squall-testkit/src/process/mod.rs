//! A server in a process of its own: started, watched, signalled, and never left behind.
//!
//! [`ServerProcess::start`] runs a binary and waits for its ready line; dropping the value
//! kills the process. Output is drained for as long as the process lives, so that a full
//! pipe never stalls it; the last lines are kept for messages.

mod server;

mod output;

pub use server::{READY_MAX, ServerProcess, StartError, serve_command};
