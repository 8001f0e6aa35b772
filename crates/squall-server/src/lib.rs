//! The server: HTTP in front of a `StreamStore`.
//!
//! Owns connections, routes, the fan-out to followers, admission and metrics. Does not
//! know which engine stores the events, and reads no option by itself.
//!
//! Invariants: hyper's types stay in [`door`]; every queue, buffer and wait has a limit in
//! [`config::ServerConfig`]; a follower is nothing but an offset. Start at [`server::run`],
//! then [`routes`] for what a request does and [`follow`] for what an event does.

pub mod config;

pub mod server;

mod context;

mod door;

pub mod access;

mod routes;

mod query;

mod headers;

mod cursor;

mod pages;

mod follow;

pub mod problem;

mod metrics;

pub use config::ServerConfig;
pub use server::{Ended, Observer, run};

#[doc(hidden)]
pub use routes::fuzzing;
