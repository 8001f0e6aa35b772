//! Heads as servers really write them.

use std::fmt::Write as _;

use squall_load::spec::LoadSpec;

use crate::support::{answering, assert_all_ok, expect_body, load, run};

/// `count` headers of `bytes` each.
fn padded(count: usize, bytes: usize) -> String {
    let mut head = String::from("HTTP/1.1 200 OK\r\n");
    for number in 0..count {
        let name = format!("X-Padding-{number:06}: ");
        let padding = "x".repeat(bytes - name.len() - 2);
        write!(head, "{name}{padding}\r\n").unwrap();
    }
    head + "Content-Length: 12\r\n\r\nHello, world"
}

fn run_against(reply: &str) -> squall_stats::record::BenchRecord {
    let server = answering(reply);
    let expect = expect_body("Hello, world");
    run(&LoadSpec { pipeline: 3, expect, ..load(&server.url("/"), 9) })
}

#[test]
fn headers_may_be_spaced_and_folded_in_any_way_that_has_one_meaning() {
    let check = |headers: &str| {
        let record = run_against(&format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\nHello, world"));
        assert_all_ok(&record, 9);
        assert_eq!(record.connections.opened, 1, "{headers:?}");
    };
    check("content-length:12");
    check("CONTENT-LENGTH:\t12\t ");
    check("Content-Length: 12\r\nContent-Length: 12");
    check("Content-Length : 12");
    check("X-Folded: one\r\n two\r\n\tthree\r\nContent-Length: 12");
    check("X-Empty:\r\nContent-Length: 12\r\nX-Bytes: \u{fc}\u{df}");
    check("Content-Length: 000012");
    check("Content-Length: 12\r\nConnection: Keep-Alive");
}

#[test]
fn a_status_line_needs_no_reason() {
    for status_line in ["HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.1 200 Some Words"] {
        let reply = format!("{status_line}\r\nContent-Length: 12\r\n\r\nHello, world");
        assert_all_ok(&run_against(&reply), 9);
    }
}

#[test]
fn lines_may_end_without_a_carriage_return() {
    assert_all_ok(&run_against("HTTP/1.1 200 OK\nContent-Length: 12\n\nHello, world"), 9);
}

#[test]
fn a_head_of_64_kib_is_read() {
    assert_all_ok(&run_against(&padded(1, 64 * 1024)), 9);
    assert_all_ok(&run_against(&padded(64, 1024)), 9);
}

#[test]
fn a_head_of_500_headers_is_read() {
    assert_all_ok(&run_against(&padded(500, 40)), 9);
}

/// The limits are 256 KiB and 1,024 headers: what is beyond them fails, and nothing hangs.
#[test]
fn a_head_beyond_the_limit_fails_as_framing() {
    for reply in [padded(1, 257 * 1024), padded(300, 1024), padded(1100, 40)] {
        let server = answering(reply);
        let record = run(&load(&server.url("/"), 2));
        assert_eq!(record.ledger.failures.framing, 2, "{:?}", record.ledger);
        assert_eq!(record.ledger.ok, 0);
    }
}
