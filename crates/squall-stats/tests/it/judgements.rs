//! Thresholds over a record.

use squall_stats::ledger::Ledger;
use squall_stats::record::BenchRecord;
use squall_stats::threshold::{Judgement, Threshold};

use crate::sample;

fn judge(condition: &str, record: &BenchRecord) -> String {
    let threshold: Threshold = condition.parse().expect("a threshold");
    match threshold.judge(record) {
        Judgement::Passed { actual } => format!("passed with {actual}"),
        Judgement::Failed { actual } => format!("failed with {actual}"),
        Judgement::CannotTell { why } => format!("cannot tell: {why}"),
    }
}

fn check(condition: &str, judgement: &str) {
    assert_eq!(judge(condition, &sample::record()), judgement, "{condition}");
}

#[test]
fn a_condition_that_holds_fails_the_run() {
    check("max > 97ms", "failed with 98ms");
    check("max > 98ms", "passed with 98ms");
    check("max >= 98ms", "failed with 98ms");
    check("service.max > 97ms", "passed with 49ms");
    check("mean > 5ms", "failed with 49.05ms");
    check("connect.max > 1ms", "passed with 640us");
    check("delivery.max <= 1s", "failed with 9.801ms");
    check("rate < 100", "failed with 98");
    check("rate < 98", "passed with 98");
    check("busy > 90%", "passed with 12.5%");
}

#[test]
fn counts_and_shares_are_of_the_requests_they_are_about() {
    check("failed > 0", "failed with 15");
    check("errors > 15", "passed with 15");
    check("failed > 1%", "failed with 1.5%");
    check("unanswered > 0.5%", "passed with 0.5%");
    check("missed > 0", "failed with 24");
    // Of the 1,024 that were scheduled, not of the 1,000 that were sent.
    check("missed > 2.4%", "passed with 2.34375%");
}

#[test]
fn events_are_judged_by_their_count() {
    check("lost > 0", "failed with 3");
    check("repeated > 4", "passed with 4");
    check("reordered >= 5", "failed with 5");
}

#[test]
fn a_percentile_without_enough_samples_cannot_be_told() {
    check("p99 > 20ms", "cannot tell: p99 needs 1,000 samples, there are 980");
    check("service.p99.9 > 1s", "cannot tell: p99.9 needs 10,000 samples, there are 980");
    check("connect.p90 > 1s", "cannot tell: p90 needs 100 samples, there are 64");
    assert!(judge("p90 > 1s", &sample::record()).starts_with("passed with 88."));
}

#[test]
fn what_was_not_measured_cannot_be_told() {
    let mut record = sample::record();
    record.ledger = Ledger::default();
    record.latency.response = Default::default();
    record.generator.busy_fraction = f64::NAN;
    let check = |condition, record: &BenchRecord, why| {
        assert_eq!(judge(condition, record), format!("cannot tell: {why}"), "{condition}");
    };
    check("p50 > 1s", &record, "p50 needs 20 samples, there are 0");
    check("max > 1s", &record, "there are no samples");
    check("mean < 1s", &record, "there are no samples");
    check("failed > 1%", &record, "no request was sent");
    check("missed > 1%", &record, "no request was scheduled");
    check("busy > 90%", &record, "busy is no number");
    if let Some(followers) = &mut record.followers {
        followers.delivery = None;
    }
    check("delivery.p99 > 1s", &record, "no follower received a stamped payload");
    record.followers = None;
    check("lost > 0", &record, "there were no followers");
}

#[test]
fn a_run_without_requests_has_no_failed_ones() {
    let record = BenchRecord { ledger: Ledger::default(), ..sample::record() };
    assert_eq!(judge("failed > 0", &record), "passed with 0");
}
