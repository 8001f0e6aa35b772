//! The sums.

use serde::{Deserialize, Serialize};

use super::Failures;
use crate::digits::grouped;

/// Where the requests went whose intended start lies in the measured window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Intended. In a closed loop the same as `sent`.
    pub scheduled: u64,
    /// Scheduled, but never handed to a connection.
    pub missed: u64,
    /// Handed to a connection, or to an attempt to open one.
    pub sent: u64,
    /// Answered with a reply that passed every check.
    pub ok: u64,
    /// Failed; `failures` says how.
    pub failed: u64,
    /// Neither answered nor failed when the run was ended.
    pub unanswered: u64,
    /// The failed ones, by kind.
    pub failures: Failures,
}

/// A sum that is wrong. It is a bug of whoever kept the ledger, not of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// *scheduled = sent + missed* does not hold.
    #[error(
        "the ledger does not add up: {} scheduled, but {} sent and {} missed",
        grouped(*.scheduled), grouped(*.sent), grouped(*.missed)
    )]
    Scheduled {
        /// Requests scheduled.
        scheduled: u64,
        /// Requests sent.
        sent: u64,
        /// Requests missed.
        missed: u64,
    },
    /// *sent = ok + failed + unanswered* does not hold.
    #[error(
        "the ledger does not add up: {} sent, but {} ok, {} failed and {} unanswered",
        grouped(*.sent), grouped(*.ok), grouped(*.failed), grouped(*.unanswered)
    )]
    Sent {
        /// Requests sent.
        sent: u64,
        /// Requests answered as they should be.
        ok: u64,
        /// Requests failed.
        failed: u64,
        /// Requests unanswered.
        unanswered: u64,
    },
    /// The failures by kind are more or fewer than the failed requests.
    #[error(
        "the ledger does not add up: {} failed, but {} failures by kind",
        grouped(*.failed), grouped(*.by_kind)
    )]
    Failures {
        /// Requests failed.
        failed: u64,
        /// Sum over the kinds.
        by_kind: u64,
    },
}

impl Ledger {
    /// Adds up.
    ///
    /// # Errors
    /// [`LedgerError`] names the first sum that is wrong.
    pub fn check(&self) -> Result<(), LedgerError> {
        let Self { scheduled, missed, sent, ok, failed, unanswered, .. } = *self;
        if sum(&[sent, missed]) != u128::from(scheduled) {
            return Err(LedgerError::Scheduled { scheduled, sent, missed });
        }
        if sum(&[ok, failed, unanswered]) != u128::from(sent) {
            return Err(LedgerError::Sent { sent, ok, failed, unanswered });
        }
        let by_kind = self.failures.total();
        if by_kind != failed {
            return Err(LedgerError::Failures { failed, by_kind });
        }
        Ok(())
    }

    /// Adds the requests of another ledger.
    pub fn merge(&mut self, other: &Self) {
        self.scheduled += other.scheduled;
        self.missed += other.missed;
        self.sent += other.sent;
        self.ok += other.ok;
        self.failed += other.failed;
        self.unanswered += other.unanswered;
        self.failures.merge(&other.failures);
    }
}

/// Wide enough for any counts, since a ledger may come from a file.
fn sum(counts: &[u64]) -> u128 {
    counts.iter().copied().map(u128::from).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Failure;

    fn ledger() -> Ledger {
        let mut failures = Failures::default();
        failures.record(Failure::Timeout);
        failures.record(Failure::Connect("ECONNREFUSED"));
        Ledger {
            scheduled: 1_010,
            missed: 3,
            sent: 1_007,
            ok: 1_000,
            failed: 2,
            unanswered: 5,
            failures,
        }
    }

    fn check_refused(change: impl FnOnce(&mut Ledger), sentence: &str) {
        let mut wrong = ledger();
        change(&mut wrong);
        assert_eq!(wrong.check().unwrap_err().to_string(), sentence);
    }

    #[test]
    fn a_ledger_adds_up() {
        assert_eq!(ledger().check(), Ok(()));
        assert_eq!(Ledger::default().check(), Ok(()));
    }

    #[test]
    fn every_sum_is_checked() {
        check_refused(
            |ledger| ledger.missed = 2,
            "the ledger does not add up: 1,010 scheduled, but 1,007 sent and 2 missed",
        );
        check_refused(
            |ledger| ledger.ok += 1,
            "the ledger does not add up: 1,007 sent, but 1,001 ok, 2 failed and 5 unanswered",
        );
        check_refused(
            |ledger| ledger.failures.record(Failure::Body),
            "the ledger does not add up: 2 failed, but 3 failures by kind",
        );
    }

    #[test]
    fn counts_from_a_file_do_not_overflow() {
        let huge = Ledger { sent: u64::MAX, missed: u64::MAX, ..Ledger::default() };
        assert!(matches!(huge.check(), Err(LedgerError::Scheduled { .. })));
    }
}
