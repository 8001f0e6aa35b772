//! Connections that end when they should not, and those that may.

use std::time::Duration;

use squall_load::spec::{BodySpec, Length, LoadSpec};
use squall_stats::ledger::Failures;
use squall_testkit::scripted::{After, Script, ScriptedServer, Step, chunked, reply};

use crate::support::{answering, assert_all_ok, constant, load, ms, playing, run};

/// Long enough for the client to read what was sent before a reset throws it away.
const UNTIL_READ: Step = Step::Wait(Duration::from_millis(40));

/// Two requests fail on a server that takes every connection through `steps`, as `expected`.
fn check(steps: impl Into<Vec<Step>>, expected: Failures) {
    let steps = steps.into();
    let server = playing(steps.clone());
    let record = run(&load(&server.url("/"), 2));
    assert_eq!(record.ledger.ok, 0, "{steps:?}");
    assert_eq!(record.ledger.failures, expected, "{steps:?}");
    assert_eq!(record.connections.opened, 2, "{steps:?}");
    assert_eq!(record.connections.closed_by_server, 2, "{steps:?}");
}

fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

#[test]
fn a_reply_that_ends_before_its_length_is_truncated() {
    let truncated = || Failures { truncated: 2, ..Failures::default() };
    let part = send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive.");
    check([Step::Request, part.clone()], truncated());
    check([Step::Request, part, UNTIL_READ, Step::Reset], truncated());
    let chunk = send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive.\r\n");
    check([Step::Request, chunk.clone()], truncated());
    check([Step::Request, chunk, UNTIL_READ, Step::Reset], truncated());
}

#[test]
fn a_reply_that_ends_inside_its_head_is_truncated() {
    let truncated = || Failures { truncated: 2, ..Failures::default() };
    check([Step::Request, send("HTTP/1.1 200 O")], truncated());
    check([Step::Request, send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n")], truncated());
}

/// Only a FIN is an end: behind a reset more may have come.
#[test]
fn a_reply_without_a_length_that_is_reset_is_truncated() {
    let part = send("HTTP/1.1 200 OK\r\n\r\nfive.");
    let truncated = Failures { truncated: 2, ..Failures::default() };
    check([Step::Request, part, UNTIL_READ, Step::Reset], truncated);
}

#[test]
fn a_connection_that_is_closed_instead_of_a_reply_counts_as_closed() {
    check([Step::Request, Step::Close], Failures { closed: 2, ..Failures::default() });
}

#[test]
fn a_connection_that_is_reset_instead_of_a_reply_counts_as_reset() {
    check([Step::Request, Step::Reset], Failures { reset: 2, ..Failures::default() });
}

/// An interim reply is a promise, not a reply.
#[test]
fn a_connection_that_is_closed_behind_an_interim_reply_counts_as_closed() {
    let steps = [Step::Request, send("HTTP/1.1 100 Continue\r\n\r\n")];
    check(steps, Failures { closed: 2, ..Failures::default() });
}

#[test]
fn each_request_of_a_pipeline_that_is_cut_is_counted() {
    let whole = reply(200, "ok");
    let part = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive.";
    let sent = [&whole[..], &whole, &whole, part].concat();
    let server = playing([Step::Requests(8), Step::Send(sent)]);
    let record = run(&LoadSpec { pipeline: 8, ..load(&server.url("/"), 16) });
    let expected = Failures { truncated: 2, closed: 8, ..Failures::default() };
    assert_eq!((record.ledger.ok, &record.ledger.failures), (6, &expected));
    assert_eq!(server.record().requests(), 16);
}

/// TCP may be cut at any byte: whole replies count, the one that was cut is truncated, and those
/// that never began are closed.
#[test]
fn a_pipeline_is_counted_right_wherever_it_is_cut() {
    let first = reply(200, "first");
    let rest = [
        chunked(200, &["se", "cond"]),
        b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
        reply(200, "last"),
    ];
    let ends = [rest[0].len(), rest[0].len() + rest[1].len(), rest.concat().len()];
    let mut script = Script::new();
    let (mut ok, mut truncated) = (0, 0);
    // The first reply is always whole, or there would be a wait before the next connection.
    for cut in 0..ends[2] {
        let sent = [&first[..], &rest.concat()[..cut]].concat();
        script = script.connection([Step::Requests(4), Step::Send(sent)], After::Close);
        ok += 1 + ends.iter().filter(|end| **end <= cut).count() as u64;
        truncated += u64::from(cut > 0 && !ends.contains(&cut));
    }
    let count = 4 * ends[2] as u64;
    let server = ScriptedServer::start(script);
    let record = run(&LoadSpec { pipeline: 4, ..load(&server.url("/"), count) });
    let expected = Failures { truncated, closed: count - ok - truncated, ..Failures::default() };
    assert_eq!((record.ledger.ok, &record.ledger.failures), (ok, &expected));
    assert_eq!(server.record().requests(), count);
}

/// RFC 9112 §9.6: the server does not answer what comes behind the request that it closes with.
#[test]
fn requests_behind_a_reply_that_closes_were_not_answered() {
    let close = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    let sent = [&reply(200, "ok")[..], close, &reply(200, "never asked")].concat();
    let server = playing([Step::Requests(8), Step::Send(sent)]);
    let record = run(&LoadSpec { pipeline: 8, ..load(&server.url("/"), 16) });
    let expected = Failures { closed: 12, ..Failures::default() };
    assert_eq!((record.ledger.ok, &record.ledger.failures), (4, &expected));
    assert_eq!(record.connections.closed_by_server, 2);
}

/// A close that crosses a request fails it; no reply is lost, and none is counted twice.
#[test]
fn a_server_that_closes_without_saying_so_loses_no_reply() {
    let answer = || [Step::Request, Step::Send(reply(200, "ok"))];
    let server = playing([answer(), answer(), answer()].concat());
    let record = run(&load(&server.url("/"), 30));
    let (ledger, failures) = (&record.ledger, &record.ledger.failures);
    assert_eq!(ledger.sent, 30);
    assert_eq!(failures.closed + failures.reset, ledger.failed, "{failures:?}");
    assert!(ledger.ok >= 15, "{ledger:?}");
    assert_eq!(server.record().replies(), ledger.ok);
}

/// The close came long before the next request, so that there is no excuse to run into it.
#[test]
fn a_connection_that_was_closed_while_idle_is_opened_again_without_a_failure() {
    let server = playing([Step::Request, Step::Send(reply(200, "ok"))]);
    let spec = LoadSpec { arrivals: constant(5.0), ..load(&server.url("/"), 4) };
    let record = run(&spec);
    assert_all_ok(&record, 4);
    assert_eq!(server.record().accepted(), usize::try_from(record.connections.opened).unwrap());
    assert!(record.connections.opened >= 4, "{:?}", record.connections);
    assert!(record.connections.closed_by_server >= 3, "{:?}", record.connections);
}

/// Servers that tidy up say so with a 408 that answers nothing (HAProxy, Apache), or with a reset.
#[test]
fn an_idle_connection_that_the_server_gives_up_costs_no_request() {
    let late = send("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n");
    for last in [late, Step::Reset] {
        let wait = Step::Wait(ms(5));
        let server = playing([Step::Request, Step::Send(reply(200, "ok")), wait, last.clone()]);
        let record = run(&LoadSpec { arrivals: constant(5.0), ..load(&server.url("/"), 3) });
        assert_all_ok(&record, 3);
        assert!(record.connections.opened >= 3, "{last:?}: {:?}", record.connections);
        assert_eq!(record.status_codes, [(200, 3)].into());
    }
}

/// A server may refuse a body before it has come: its reply counts, and nobody waits for more.
#[test]
fn a_reply_before_the_end_of_its_request_is_taken() {
    let refusal = send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    let server = playing([refusal, Step::Drain]);
    let record = run(&LoadSpec {
        body: BodySpec::Bytes(vec![b'x'; 8 << 20]),
        // The connection is opened with its request, or the reply would come before it.
        keep_alive: false,
        ..load(&server.url("/"), 3)
    });
    assert_eq!(record.ledger.failures, Failures { status: 3, ..Failures::default() });
    assert_eq!(record.status_codes, [(413, 3)].into());
}

#[test]
fn a_server_that_closes_only_its_own_side_has_closed() {
    let server =
        playing([Step::Request, Step::Send(reply(200, "ok")), Step::HalfClose, Step::Drain]);
    let record = run(&LoadSpec { arrivals: constant(5.0), ..load(&server.url("/"), 3) });
    assert_all_ok(&record, 3);
    assert!(record.connections.opened >= 3, "{:?}", record.connections);
}

#[test]
fn a_connection_that_the_server_says_to_close_is_opened_again_without_a_failure() {
    let close = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    // Closed by the client first: the server waits for it.
    let server = answering(close);
    let record = run(&load(&server.url("/"), 10));
    assert_all_ok(&record, 10);
    assert_eq!(record.connections.opened, 10);
    assert_eq!(record.connections.closed_by_server, 10);
    assert_eq!(record.connections.reused, 0);
}

/// A server that refuses to talk is asked less and less often, not in a hot loop.
#[test]
fn a_server_that_cuts_every_connection_is_not_asked_in_a_hot_loop() {
    let run_against = |steps: &[Step]| {
        let server = playing(steps);
        let record = run(&LoadSpec { length: Length::Time(ms(500)), ..load(&server.url("/"), 1) });
        assert_eq!(record.ledger.ok, 0, "{steps:?}");
        record.ledger.sent
    };
    let sent = run_against(&[Step::Request, Step::Reset]);
    assert!((2..12).contains(&sent), "{sent}");
    let sent = run_against(&[Step::Request, Step::Close]);
    assert!((2..12).contains(&sent), "{sent}");
    // Cut so soon that it may look as if there were no connection, and the run may be given up.
    let sent = run_against(&[Step::Reset]);
    assert!((1..12).contains(&sent), "{sent}");
}
