//! The ledger: where every request went.
//!
//! *scheduled = sent + missed* and *sent = ok + failed + unanswered*. A run whose ledger does
//! not add up is a bug, and is reported as one. Start at [`Ledger`].

mod counts;

mod failure;

pub use counts::{Ledger, LedgerError};
pub use failure::{Failure, Failures};
