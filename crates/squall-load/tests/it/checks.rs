//! Replies that are whole and not what they should be.

use squall_load::spec::{Expectations, LoadSpec, StatusPattern};
use squall_stats::ledger::Failures;
use squall_stats::record::{BenchRecord, Limit};
use squall_testkit::scripted::reply;

use crate::support::{answering, assert_all_ok, expect_body, heads, load, run};

fn run_against(reply: Vec<u8>, expect: Expectations) -> BenchRecord {
    let server = answering(reply);
    run(&LoadSpec { pipeline: 2, expect, ..load(&server.url("/"), 10) })
}

/// All ten requests failed in this way, and the connection was kept.
fn check_failures(record: &BenchRecord, expected: &Failures) {
    assert_eq!(record.ledger.failures, *expected);
    assert_eq!(record.ledger.ok, 0);
    assert_eq!(record.summary.verified_replies_per_second, 0.0);
    assert_eq!(record.summary.limit, Limit::Unknown);
    assert_eq!(record.connections.opened, 1);
}

/// Requests that fail fast are no throughput: hey, ab and others report them as a rate.
#[test]
fn replies_of_500_fail_and_make_no_rate() {
    let record = run_against(reply(500, "sorry"), Expectations::default());
    check_failures(&record, &Failures { status: 10, ..Failures::default() });
    assert_eq!(record.status_codes, [(500, 10)].into());
}

#[test]
fn a_status_that_is_expected_passes() {
    for pattern in [StatusPattern::Class(5), StatusPattern::Code(500)] {
        let expect = Expectations { status: vec![pattern], ..Expectations::default() };
        let record = run_against(reply(500, "sorry"), expect);
        assert_all_ok(&record, 10);
        assert!(record.summary.verified_replies_per_second > 0.0);
        assert_eq!(record.status_codes, [(500, 10)].into());
    }
}

#[test]
fn a_status_that_is_usual_fails_where_another_is_expected() {
    let status = vec![StatusPattern::Code(404)];
    let record =
        run_against(reply(200, "found"), Expectations { status, ..Expectations::default() });
    check_failures(&record, &Failures { status: 10, ..Failures::default() });
}

/// A login page is a 200 as well.
#[test]
fn a_body_that_is_another_one_fails_whatever_its_status() {
    let failed = Failures { body: 10, ..Failures::default() };
    let login = || reply(200, "<form>Please log in</form>");
    check_failures(&run_against(login(), expect_body("{\"orders\":[]}")), &failed);
    let contains = |part: &str| Expectations {
        body_contains: Some(part.as_bytes().to_vec()),
        ..Expectations::default()
    };
    check_failures(&run_against(login(), contains("orders")), &failed);
    assert_all_ok(&run_against(login(), contains("log in")), 10);
    let bytes = |bytes| Expectations { bytes: Some(bytes), ..Expectations::default() };
    check_failures(&run_against(login(), bytes(13)), &failed);
    assert_all_ok(&run_against(login(), bytes(26)), 10);
}

/// One failure a request: a wrong status is not counted as a wrong body too.
#[test]
fn a_reply_that_fails_twice_counts_once() {
    let record = run_against(reply(404, "not here"), expect_body("here"));
    check_failures(&record, &Failures { status: 10, ..Failures::default() });
}

/// What is measured is what the server sent: encodings are not decoded.
#[test]
fn an_encoded_body_is_checked_as_it_came() {
    let coded = b"\x1f\x8b\x08\x00not really gzip";
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        coded.len()
    );
    let server = answering([head.as_bytes(), coded].concat());
    let record =
        run(&LoadSpec { expect: expect_body(coded.to_vec()), ..load(&server.url("/"), 3) });
    assert_all_ok(&record, 3);
    assert_eq!(record.body.unwrap().bytes_max, coded.len() as u64);
}

/// A redirect is an answer like another.
#[test]
fn a_redirect_passes_and_is_not_followed() {
    let server = answering("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n");
    let record = run(&load(&server.url("/"), 4));
    assert_all_ok(&record, 4);
    assert_eq!(record.status_codes[&302], 4);
    let asked = heads(&server.record());
    assert!(asked.len() == 4 && asked.iter().all(|head| head.starts_with("GET / ")), "{asked:?}");
}
