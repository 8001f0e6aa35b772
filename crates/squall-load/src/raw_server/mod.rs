//! The smallest possible HTTP server: what a server would reach if serving cost nothing.
//!
//! It shows what the generator can do at most (`squall calibrate`), and compares generators
//! without a real server in the way. One thread, one reply for everything.

mod connection;
mod counts;
mod head;
mod reply;
mod requests;
mod server;

pub use counts::{RawServerCounts, RawServerWatch};
pub use server::RawServer;

#[cfg(test)]
mod tests;
