//! `squall serve`, from the parsed options to the exit code.
//!
//! The order matters. The data is locked before the address is bound: of two servers on the
//! same data, the second says so, whatever their ports. The address is printed last, when
//! appends are accepted.

mod run;

mod config;

mod files;

mod log;

mod watch;

mod engine;

mod listener;

mod announce;

pub(crate) use run::serve;
