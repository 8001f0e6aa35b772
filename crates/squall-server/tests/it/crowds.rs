//! More of everything than there may be: connections, followers, pages, queues.

use std::collections::BTreeSet;
use std::time::Duration;

use squall_stream::request::StoreError;
use squall_testkit::faulty::{Fault, Gate, Method, When};
use squall_testkit::http::{Connection, Request, Response};
use squall_testkit::wait::wait_until;

use crate::raw::{Raw, exchange, faulty, statuses};
use crate::support::{PATIENCE, TestServer, assert_problem};

const TEXT: &str = "text/plain";

/// The wait that a follow which is sent away asks for, in ms.
fn retry_ms(refused: &Response) -> u64 {
    assert_eq!(refused.status, 200);
    assert_eq!(refused.header("Content-Type"), Some("text/event-stream"));
    let text = refused.text();
    let wait = text.strip_prefix("retry:").and_then(|rest| rest.strip_suffix("\n\n"));
    wait.unwrap_or_else(|| panic!("{text:?}")).trim().parse().unwrap()
}

#[test]
fn a_connection_too_many_is_told_and_closed() {
    let server = TestServer::with(|config| config.connections_max = 3);
    let mut inside: Vec<Connection> = (0..3).map(|_| server.connect()).collect();
    let healthy = Request::new("GET", "/healthz");
    for connection in &mut inside {
        assert_eq!(connection.call(&healthy).unwrap().status, 200);
    }
    let answers = exchange(&server, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(statuses(&answers), [503], "{answers}");
    assert!(answers.contains("too_many_connections"), "{answers}");
    // Also one that says nothing costs nothing for long.
    assert_eq!(statuses(&Raw::open(&server).receive_all_after_end()), [503]);
    for connection in &mut inside {
        assert_eq!(connection.call(&healthy).unwrap().status, 200);
    }
    drop(inside);
    let admitted = || server.connect().call(&healthy).is_ok_and(|reply| reply.status == 200);
    assert!(wait_until(PATIENCE, admitted));
}

/// A crowd in front of a full server leaves those inside alone.
#[test]
fn a_crowd_of_silent_connections_is_sent_away() {
    let server = TestServer::with(|config| config.connections_max = 1);
    let mut inside = server.connect();
    let healthy = Request::new("GET", "/healthz");
    assert_eq!(inside.call(&healthy).unwrap().status, 200);
    let mut crowd: Vec<Raw> = (0..100).map(|_| Raw::open(&server)).collect();
    assert_eq!(inside.call(&healthy).unwrap().status, 200);
    for silent in &mut crowd {
        silent.receive_all();
    }
    assert_eq!(inside.call(&healthy).unwrap().status, 200);
}

/// An EventSource gives up on a 503 for good, so a follow is accepted, told when to come
/// back, and ended.
#[test]
fn followers_too_many_come_back_at_different_times() {
    let server = TestServer::with(|config| config.followers_max = 1);
    server.create("s", TEXT);
    server.append("s", TEXT, "event");
    let mut inside = server.connect();
    inside.send(&Request::new("GET", "/v1/stream/s?live=events")).unwrap();
    assert_eq!(inside.receive_head().unwrap().status, 200);
    inside.receive_chunk().unwrap();
    let targets = ["/stream", "/v1/stream/s?live=events", "/v1/stream/s?live=sse&offset=-1"];
    let waits: BTreeSet<u64> = (0..30).map(|i| retry_ms(&server.read(targets[i % 3]))).collect();
    assert!(waits.iter().all(|wait| (1_000..=10_000).contains(wait)), "{waits:?}");
    assert!(waits.len() > 10, "a herd: {waits:?}");
    let waiting = server.read("/v1/stream/s?live=long-poll&offset=now");
    assert_problem(&waiting, 503, "too_many_followers");
    assert!(waiting.header("Retry-After").is_some());
    // What needs no waiting is there for everyone.
    assert_eq!(server.read("/v1/stream/s?live=long-poll&offset=-1").text(), "event");
    drop(inside);
    let admitted = || server.metric("squall_followers") == 0;
    assert!(wait_until(PATIENCE, admitted));
}

/// Refused clients are told to come back at different times.
#[test]
fn refused_appends_come_back_at_different_times() {
    let (server, store) = faulty(|_| {});
    let full = StoreError::QueueFull { queue: "append" };
    store.inject(Method::Append, When::Always, Fault::Refuse(full));
    let waits: BTreeSet<String> = (0..40)
        .map(|_| {
            let refused = server.call(&Request::new("POST", "/").body("x"));
            assert_problem(&refused, 503, "overloaded");
            refused.header("Retry-After").unwrap().to_owned()
        })
        .collect();
    assert!(waits.len() > 1, "{waits:?}");
}

#[test]
fn a_full_reader_queue_is_503_and_sends_followers_away() {
    let (server, store) = faulty(|_| {});
    server.create("s", TEXT);
    let full = StoreError::QueueFull { queue: "reader" };
    store.inject(Method::Read, When::Always, Fault::Refuse(full));
    for target in ["/v1/stream/s", "/v1/stream/s?live=long-poll&offset=now"] {
        let refused = server.read(target);
        assert_problem(&refused, 503, "overloaded");
        assert!(refused.header("Retry-After").is_some());
    }
    for target in ["/stream", "/v1/stream/s?live=events", "/v1/stream/s?live=sse&offset=-1"] {
        assert!((1_000..=10_000).contains(&retry_ms(&server.read(target))), "{target}");
    }
}

/// Pages that clients do not take are not read without end.
#[test]
fn pages_in_flight_are_bounded() {
    let server = TestServer::with(|config| {
        config.pages_bytes_max = 1 << 20;
        config.page_wait_max = Duration::from_millis(300);
    });
    server.create("big", "application/octet-stream");
    server.append("big", "application/octet-stream", vec![0; 12 << 20]);
    server.create("small", TEXT);
    server.append("small", TEXT, "event");
    let mut slow = Raw::open_small(&server);
    slow.send("GET /v1/stream/big HTTP/1.1\r\nHost: localhost\r\n\r\n");
    slow.receive_until("HTTP/1.1 200");
    assert_problem(&server.read("/v1/stream/small"), 503, "overloaded");
    drop(slow);
    let served = || server.read("/v1/stream/small").status == 200;
    assert!(wait_until(PATIENCE, served));
}

#[test]
fn a_read_waits_for_its_share() {
    let (server, store) = faulty(|config| config.pages_bytes_max = 1024);
    server.create("s", TEXT);
    server.append("s", TEXT, "event");
    let gate = Gate::default();
    store.inject(Method::Read, When::Next(1), Fault::Stall(gate.clone()));
    let mut first = server.connect();
    let mut second = server.connect();
    first.send(&Request::new("GET", "/v1/stream/s")).unwrap();
    assert!(wait_until(PATIENCE, || gate.waiting() == 1));
    second.send(&Request::new("GET", "/v1/stream/s")).unwrap();
    assert_eq!(server.read("/healthz").status, 200);
    gate.open();
    assert_eq!(first.receive("GET").unwrap().text(), "event");
    assert_eq!(second.receive("GET").unwrap().text(), "event");
}

#[test]
fn absurd_offsets_are_refused() {
    let server = TestServer::start();
    server.create("s", TEXT);
    server.append("s", TEXT, "event");
    let long = "9".repeat(10_000);
    let offsets = [
        "",
        "-2",
        "5",
        "0000000000000000_000000000000000",
        "0000000000000000_0000000000000006",
        "%00",
        "0000000000000000_-000000000000005",
        "9999999999999999_9999999999999999",
        "NOW",
        "%ff",
        "-1 ",
        "0000000000000000_0000000000000001&offset=-1",
        &long,
        "0x0",
        "\u{661}",
        "1e3",
        "last,now",
    ];
    for offset in offsets {
        for live in ["", "&live=sse", "&live=long-poll"] {
            let found = server.read(&format!("/v1/stream/s?offset={offset}{live}"));
            assert_eq!(found.status, 400, "{offset:?}{live}: {}", found.text());
        }
    }
    for query in ["live=", "live=push", "live=sse", "live=sse&live=sse&offset=-1", "%ff=%fe"] {
        let found = server.read(&format!("/v1/stream/s?{query}"));
        assert_eq!(found.status, 400, "{query:?}: {}", found.text());
    }
    assert_eq!(server.read("/v1/stream/s").text(), "event");
}
