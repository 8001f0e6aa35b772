//! For tests only: a server process, a raw HTTP client, a scripted server, and the crash test.
//!
//! Nothing here ships. A crate may name this one under `[dev-dependencies]` only;
//! `cargo xtask tidy` holds that, with `xtask` itself as the one exception.

pub mod wait;

pub mod http;
pub mod process;
pub mod scripted;

pub mod crash;

pub mod faulty;
