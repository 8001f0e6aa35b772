//! Routes: what each method on each path does.
//!
//! A route reads the request's head, asks the store or the hub, and makes a reply. It
//! knows neither sockets nor engines.

mod router;

mod guard;

mod default_stream;

mod stream;

mod create;

mod append;

mod catch_up;

mod live;

mod long_poll;

mod streams;

mod operations;

pub mod fuzzing;

pub(crate) use router::Router;
