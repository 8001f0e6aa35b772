//! The kit itself.
#![expect(clippy::unwrap_used, reason = "what a test cannot do without may panic")]

mod faulty;
mod scripted;
