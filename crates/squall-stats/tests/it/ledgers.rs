//! Laws of the ledger.

use proptest::prelude::*;
use squall_stats::ledger::{Failure, Failures, Ledger};

fn any_failure() -> impl Strategy<Value = Failure> {
    prop::sample::select(vec![
        Failure::Connect("ECONNREFUSED"),
        Failure::Connect("timeout"),
        Failure::Tls,
        Failure::Reset,
        Failure::Closed,
        Failure::Truncated,
        Failure::Timeout,
        Failure::Status,
        Failure::Body,
        Failure::Framing,
    ])
}

fn failures(kinds: &[Failure]) -> Failures {
    let mut failures = Failures::default();
    kinds.iter().for_each(|kind| failures.record(*kind));
    failures
}

prop_compose! {
    fn any_ledger()(
        missed in 0..1_000_u64,
        ok in 0..1_000_u64,
        unanswered in 0..1_000_u64,
        kinds in prop::collection::vec(any_failure(), 0..50),
    ) -> Ledger {
        let failures = failures(&kinds);
        let failed = failures.total();
        let sent = ok + failed + unanswered;
        Ledger { scheduled: sent + missed, missed, sent, ok, failed, unanswered, failures }
    }
}

proptest! {
    /// Every failure is counted once, under one label.
    #[test]
    fn failures_by_kind_sum_up_to_all(kinds in prop::collection::vec(any_failure(), 0..100)) {
        let failures = failures(&kinds);
        prop_assert_eq!(failures.total(), kinds.len() as u64);
        prop_assert_eq!(failures.nonzero().map(|(_, count)| count).sum::<u64>(), failures.total());
    }

    /// Counting in two places and merging is counting in one.
    #[test]
    fn merged_failures_are_the_failures_of_all(
        left in prop::collection::vec(any_failure(), 0..50),
        right in prop::collection::vec(any_failure(), 0..50),
    ) {
        let mut merged = failures(&left);
        merged.merge(&failures(&right));
        prop_assert_eq!(merged, failures(&[left, right].concat()));
    }

    /// Ledgers that add up still do when merged, and no request is lost.
    #[test]
    fn merged_ledgers_add_up(left in any_ledger(), right in any_ledger()) {
        let mut merged = left.clone();
        merged.merge(&right);
        prop_assert_eq!(merged.check(), Ok(()));
        prop_assert_eq!(merged.scheduled, left.scheduled + right.scheduled);
    }

    /// One request too many or too few anywhere is found.
    #[test]
    fn a_ledger_that_is_off_by_one_is_refused(ledger in any_ledger(), place in 0..6_usize) {
        let mut wrong = ledger;
        let count = match place {
            0 => &mut wrong.scheduled,
            1 => &mut wrong.missed,
            2 => &mut wrong.sent,
            3 => &mut wrong.ok,
            4 => &mut wrong.failed,
            _ => &mut wrong.unanswered,
        };
        *count += 1;
        prop_assert!(wrong.check().is_err());
    }
}
