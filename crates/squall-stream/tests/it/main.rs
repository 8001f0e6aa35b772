//! The state machine against the rules, and the suite on the engine in memory.

mod laws;
mod memory;
mod precedence;
