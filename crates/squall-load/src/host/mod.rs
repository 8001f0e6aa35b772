//! The one place that knows the machine below: processors, limits, clocks and `/proc`.
//!
//! What only Linux tells is refused elsewhere with a sentence that says so.

mod grouped;
mod proc;

pub mod clock;
pub mod cpus;
pub mod errno;
pub mod files;
pub mod machine;
pub mod ports;
pub mod process;
pub mod usage;

pub use proc::ProcError;
