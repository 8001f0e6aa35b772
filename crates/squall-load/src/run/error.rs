//! Why a run could not be made.

use std::io;

use crate::worker::WorkerError;

/// Why a run gave no result at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// None of several addresses takes a connection.
    #[error("cannot connect to any of {addresses}")]
    Unreachable {
        /// The addresses that were tried.
        addresses: String,
        /// What the last one said.
        source: io::Error,
    },
    /// The kernel refused a thread, a poll or a timer.
    #[error("cannot start the generator")]
    Start(#[source] io::Error),
    /// A thread failed while it ran.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// A thread came to an unforeseen end.
    #[error("a thread of the generator ended by a bug; nothing that was measured can be trusted")]
    Panicked,
    /// The process whose use of the machine was to be reported.
    #[error("--server-pid: {0}")]
    Server(String),
    /// The sums of the ledger disagree.
    #[error("the ledger does not add up, which is a bug")]
    Ledger(#[from] squall_stats::ledger::LedgerError),
}
