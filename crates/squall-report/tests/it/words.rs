//! The first plain words, case by case.

use std::collections::BTreeMap;

use squall_report::sentence;
use squall_stats::ledger::{Failures, Ledger};
use squall_stats::record::{BenchRecord, Limit};

use crate::records;

fn check(record: &BenchRecord, expected: &str) {
    assert_eq!(sentence(record), expected);
}

fn changed(mut record: BenchRecord, change: impl FnOnce(&mut BenchRecord)) -> BenchRecord {
    change(&mut record);
    record
}

#[test]
fn a_good_run_is_one_sentence() {
    check(&records::healthy(), "38,412 verified replies/s; p99 4.10 ms; the server was the limit.");
}

#[test]
fn too_few_replies_have_no_p99() {
    let record = changed(records::healthy(), |record| {
        record.latency.response = records::times(999, 1_020_000);
    });
    check(&record, "38,412 verified replies/s; slowest 12.2 ms; the server was the limit.");
}

#[test]
fn a_busy_generator_is_named() {
    let record = changed(records::healthy(), |record| {
        record.summary.limit = Limit::Generator;
        record.generator.busy_fraction = 0.972;
    });
    check(
        &record,
        "38,412 verified replies/s; p99 4.10 ms; the generator was the limit: it was busy 97 % of \
         the time; the server may be faster.",
    );
}

#[test]
fn an_open_loop_says_what_it_kept() {
    let record = changed(records::missed_arrivals(), |record| {
        record.summary.verified_replies_per_second = 998.7;
        record.summary.limit = Limit::Rate;
        record.ledger = Ledger { scheduled: 9987, sent: 9987, ok: 9987, ..Ledger::default() };
    });
    check(&record, "998.7 verified replies/s; p99 1.66 s; the rate of 1,000/s was kept.");
    check(
        &records::missed_arrivals(),
        "809.9 verified replies/s; p99 1.66 s; the server was the limit. Open loop: 1,000/s were \
         asked for, 812.6/s kept, 1,877 arrivals missed. 3 requests were still unanswered at the \
         end.",
    );
}

#[test]
fn some_failures_are_counted_by_kind() {
    let record = changed(records::healthy(), |record| {
        let failures = Failures { status: 400, timeout: 12, ..Failures::default() };
        record.ledger = Ledger {
            scheduled: 10_000,
            sent: 10_000,
            ok: 9588,
            failed: 412,
            failures,
            ..Ledger::default()
        };
        record.status_codes = BTreeMap::from([(200, 9588), (404, 300), (500, 100)]);
    });
    check(
        &record,
        "38,412 verified replies/s; p99 4.10 ms; the server was the limit. 412 of 10,000 requests \
         failed (400 × status, 12 × timeout).",
    );
}

#[test]
fn a_refused_port_leads_to_the_server() {
    let refused =
        "0 verified replies: every connection was refused (ECONNREFUSED). Is the server running?";
    check(&records::refused(), refused);
    // Without keep-alive each request opens its own connection, so the ledger has them.
    let within = changed(records::refused(), |record| {
        let connect = std::mem::take(&mut record.connections.failed);
        record.ledger = Ledger {
            scheduled: 64,
            sent: 64,
            failed: 64,
            failures: Failures { connect, ..Failures::default() },
            ..Ledger::default()
        };
    });
    check(&within, refused);
}

#[test]
fn nothing_has_its_reason() {
    let unreachable = changed(records::refused(), |record| {
        record.connections.failed =
            BTreeMap::from([("EHOSTUNREACH".to_owned(), 2), ("timeout".to_owned(), 62)]);
    });
    check(
        &unreachable,
        "0 verified replies: no connection could be opened (62 × timeout, 2 × EHOSTUNREACH).",
    );
    check(
        &records::server_errors(),
        "0 verified replies: all 10,000 requests failed (9,988 × status 500, 12 × timeout).",
    );
    let silent = changed(records::server_errors(), |record| {
        record.ledger = Ledger { scheduled: 64, sent: 64, unanswered: 64, ..Ledger::default() };
    });
    check(&silent, "0 verified replies: none of 64 requests was answered.");
    let half = changed(silent, |record| {
        record.ledger.failed = 4;
        record.ledger.unanswered = 60;
        record.ledger.failures.reset = 4;
    });
    check(
        &half,
        "0 verified replies: 4 of 64 requests failed (4 × reset), 60 were unanswered at the end.",
    );
    let idle = changed(records::healthy(), |record| record.ledger = Ledger::default());
    check(&idle, "0 verified replies: no request was sent.");
}

#[test]
fn followers_are_told_of() {
    check(
        &records::with_followers(),
        "50 verified replies/s; slowest 22.8 ms; the rate of 50/s was kept. 1,000 of 1,000 \
         followers were established and received 50,000 events/s, p99 12.9 ms after the append; 3 lost, 1 \
         repeated.",
    );
    let only = changed(records::with_followers(), |record| {
        record.load.connections = 0;
        record.ledger = Ledger::default();
        if let Some(followers) = &mut record.followers {
            followers.delivery = None;
        }
    });
    check(&only, "1,000 of 1,000 followers were established and received 50,000 events/s.");
    let whole = changed(records::with_followers(), |record| {
        let followers = record.followers.as_mut().unwrap();
        let delivery = followers.delivery.as_mut().unwrap();
        (delivery.lost, delivery.repeated) = (0, 0);
    });
    assert!(sentence(&whole).ends_with("after the append; none was lost, repeated or reordered."));
    let late = changed(whole, |record| {
        let followers = record.followers.as_mut().unwrap();
        followers.delivery.as_mut().unwrap().undelivered = 7;
    });
    assert!(sentence(&late).ends_with("after the append; 7 not delivered in time."));
}

/// The sentence is about the run, not about what was said of it before.
#[test]
fn the_sentence_does_not_depend_on_itself() {
    let record = changed(records::full(), |record| record.summary.sentence.clear());
    check(&record, &records::full().summary.sentence);
}
