//! What the generator says it sent, against what the server says it read.

use squall_load::spec::{Length, LoadSpec, WarmUp};
use squall_stats::record::BenchRecord;
use squall_testkit::scripted::{Record, ScriptedServer, Service};

use crate::support::{constant, load, ms, run};

/// Runs what `change` makes of a load of `count` requests; nothing fails, and both sides have
/// counted the same requests and connections.
fn check(count: u64, change: impl FnOnce(LoadSpec) -> LoadSpec) -> (BenchRecord, Record) {
    let server = ScriptedServer::serve(Service::default());
    let record = run(&change(load(&server.url("/"), count)));
    let seen = server.record();
    let (ledger, warm_up) = (&record.ledger, &record.warm_up);
    assert_eq!((ledger.failed, ledger.unanswered, warm_up.failed), (0, 0, 0), "{ledger:?}");
    assert_eq!(ledger.sent + warm_up.sent, seen.requests());
    assert_eq!(ledger.ok + warm_up.ok, seen.replies());
    assert!(ledger.ok > 0, "{ledger:?}");
    assert_eq!(record.connections.opened, seen.accepted() as u64);
    assert_eq!(record.connections.closed_by_client, record.connections.opened);
    let fresh = seen.connections.iter().filter(|connection| connection.requests_read > 0).count();
    assert_eq!(record.connections.reused, seen.requests() - fresh as u64);
    (record, seen)
}

fn timed(spec: LoadSpec) -> LoadSpec {
    LoadSpec { length: Length::Time(ms(200)), ..spec }
}

/// Most requests that one connection carried.
fn requests_max(seen: &Record) -> u64 {
    seen.connections.iter().map(|connection| connection.requests_read).max().unwrap()
}

#[test]
fn a_number_of_requests_is_kept_to_the_request() {
    for (connections, threads, pipeline) in [(1, 1, 1), (3, 1, 1), (5, 2, 1), (3, 2, 16)] {
        let (record, _) =
            check(1_001, |spec| LoadSpec { connections, threads: Some(threads), pipeline, ..spec });
        assert_eq!(record.ledger.sent, 1_001);
        assert_eq!(record.connections.opened, connections as u64);
    }
}

/// Connections that get nothing to do are no error.
#[test]
fn fewer_requests_than_connections_are_sent_all_the_same() {
    let (record, _) = check(3, |spec| LoadSpec { connections: 8, threads: Some(2), ..spec });
    assert_eq!(record.ledger.sent, 3);
}

#[test]
fn a_closed_loop_counts_what_the_server_counts() {
    check(1, |spec| LoadSpec { connections: 4, threads: Some(2), ..timed(spec) });
}

#[test]
fn a_pipelined_loop_counts_what_the_server_counts() {
    check(1, |spec| LoadSpec { connections: 2, threads: Some(2), pipeline: 16, ..timed(spec) });
}

#[test]
fn an_open_loop_counts_what_the_server_counts() {
    for pipeline in [1, 4] {
        let (record, _) = check(1, |spec| LoadSpec {
            connections: 8,
            threads: Some(2),
            pipeline,
            arrivals: constant(1_000.0),
            ..timed(spec)
        });
        assert_eq!((record.ledger.scheduled, record.ledger.missed), (200, 0));
    }
}

#[test]
fn an_open_loop_of_a_number_of_requests_sends_that_number() {
    let (record, _) = check(123, |spec| LoadSpec {
        connections: 4,
        threads: Some(2),
        arrivals: constant(1_000.0),
        ..spec
    });
    assert_eq!((record.ledger.scheduled, record.ledger.sent), (123, 123));
}

/// What was sent before the window is in no other number than its own.
#[test]
fn requests_of_the_warm_up_are_counted_apart() {
    let warm_up = WarmUp::For(ms(100));
    for arrivals in [None, constant(1_000.0)] {
        let (record, seen) = check(1, |spec| LoadSpec {
            connections: 2,
            threads: Some(2),
            warm_up,
            arrivals,
            ..timed(spec)
        });
        assert!(record.warm_up.sent > 0, "{:?}", record.warm_up);
        assert!(record.ledger.sent < seen.requests());
        if arrivals.is_some() {
            assert_eq!((record.warm_up.sent, record.ledger.scheduled), (100, 200));
        }
    }
    let (record, _) = check(100, |spec| LoadSpec { warm_up, pipeline: 4, ..spec });
    assert_eq!(record.ledger.sent, 100);
}

#[test]
fn a_connection_carries_as_many_requests_as_it_is_said_to() {
    let (record, seen) = check(20, |spec| LoadSpec { requests_per_connection: Some(3), ..spec });
    assert_eq!((record.connections.opened, requests_max(&seen)), (7, 3));
    let (record, seen) =
        check(20, |spec| LoadSpec { requests_per_connection: Some(5), pipeline: 3, ..spec });
    assert_eq!((record.connections.opened, requests_max(&seen)), (4, 5));
    let (_, seen) = check(1, |spec| LoadSpec {
        requests_per_connection: Some(5),
        pipeline: 3,
        connections: 2,
        arrivals: constant(500.0),
        ..timed(spec)
    });
    assert_eq!(requests_max(&seen), 5);
}

#[test]
fn without_keep_alive_every_request_has_its_own_connection() {
    let (record, seen) = check(30, |spec| LoadSpec { keep_alive: false, pipeline: 4, ..spec });
    assert_eq!((record.connections.opened, requests_max(&seen)), (30, 1));
    assert_eq!(record.connections.reused, 0);
    let (record, seen) = check(1, |spec| LoadSpec {
        keep_alive: false,
        connections: 4,
        threads: Some(2),
        arrivals: constant(200.0),
        ..timed(spec)
    });
    assert_eq!((record.connections.opened, requests_max(&seen)), (40, 1));
}
