//! Thresholds: conditions under which a run counts as failed.
//!
//! Owns what a user writes after `--fail-if`, and the judgement over a record. Does not own
//! the exit code. Invariant: a number that the run could not tell is neither good nor bad.
//! Start at [`Threshold`].

mod condition;

mod metric;

mod quantity;

mod error;

pub use condition::{Judgement, Threshold};
pub use error::ThresholdError;
pub use quantity::Quantity;
