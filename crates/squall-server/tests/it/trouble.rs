//! A store in trouble: what clients are told, and what they may rely on then.

use std::sync::Arc;

use squall_stream::request::StoreError;
use squall_testkit::faulty::{Fault, FaultyStore, Gate, Method, When};
use squall_testkit::http::Request;
use squall_testkit::wait::wait_until;

use crate::follower::{Follower, message};
use crate::support::{PATIENCE, TestServer, assert_problem, at, path, post};

/// A server with a stream `s`, and the faults that can be put before its store.
fn stage() -> (TestServer, Arc<FaultyStore>) {
    let mut faulty = None;
    let server = TestServer::over(
        |_| {},
        |store| Arc::clone(faulty.insert(Arc::new(FaultyStore::new(store, 7)))) as _,
    );
    server.create("s", "text/plain");
    (server, faulty.unwrap())
}

fn produced(seq: &str) -> Request {
    let request = post("s").header("Content-Type", "text/plain").header("Producer-Id", "w");
    request.header("Producer-Epoch", "0").header("Producer-Seq", seq).body("x")
}

/// The event was stored and the answer lost. A retry must be known as one: with the
/// producer's state written apart from the event it was taken for a gap or stored twice
/// (`durable-streams#143`).
#[test]
fn a_retry_after_an_unknown_outcome_stores_nothing_twice() {
    let (server, faulty) = stage();
    assert_eq!(server.call(&produced("0")).status, 200);
    faulty.inject(Method::Append, When::Next(1), Fault::LoseAnswer(StoreError::OutcomeUnknown));
    assert_problem(&server.call(&produced("1")), 500, "outcome_unknown");
    assert_eq!(server.call(&produced("1")).status, 204);
    // Never stored at all: the same retry stores it.
    faulty.inject(Method::Append, When::Next(1), Fault::Refuse(StoreError::OutcomeUnknown));
    assert_problem(&server.call(&produced("2")), 500, "outcome_unknown");
    assert_eq!(server.call(&produced("2")).status, 200);
    assert_eq!(server.read(&path("s")).text(), "xxx");
}

/// A failed sync is never a success, for anyone in the batch: `turso#1889`, `turso#2091`.
#[test]
fn no_change_that_failed_is_answered_as_done() {
    let (server, faulty) = stage();
    let failed = StoreError::Failed { reason: "EIO".into() };
    for method in [Method::Append, Method::Create, Method::Delete] {
        faulty.inject(method, When::Always, Fault::Refuse(failed.clone()));
    }
    let append = post("s").header("Content-Type", "text/plain").body("x");
    for request in [append, crate::support::put("t"), Request::new("DELETE", &path("s"))] {
        let found = server.call(&request);
        assert_problem(&found, 500, "storage_failed");
        // What the engine said is for the log, not for strangers.
        assert!(!found.text().contains("EIO"), "{}", found.text());
    }
    assert_eq!(server.read(&path("s")).text(), "");
}

/// A queue that is full is refused at once and with a time to come again, never as an
/// error of the server's own: `ntfy#561`, `ntfy#1391` answered 500 `database is locked`.
#[test]
fn a_full_queue_is_503_with_a_time_to_come_again() {
    let (server, faulty) = stage();
    let full = StoreError::QueueFull { queue: "append" };
    faulty.inject(Method::Append, When::Always, Fault::Refuse(full));
    let mut waits = Vec::new();
    for _ in 0..40 {
        let refused = server.call(&produced("0"));
        assert_problem(&refused, 503, "overloaded");
        waits.push(refused.header("Retry-After").unwrap().parse::<u32>().unwrap());
    }
    assert!(waits.iter().all(|wait| (1..=5).contains(wait)));
    // Drawn anew for each, so that those who were refused together come back apart.
    assert!(waits.iter().any(|wait| *wait != waits[0]));
}

/// What was handed over is stored, though the client has gone: the outcome that it does
/// not know is one of two, and this is one of them.
#[test]
fn an_append_outlives_its_connection() {
    let (server, faulty) = stage();
    let gate = Gate::default();
    faulty.inject(Method::Append, When::Next(1), Fault::Stall(gate.clone()));
    let mut connection = server.connect();
    connection.send(&post("s").header("Content-Type", "text/plain").body("x")).unwrap();
    assert!(wait_until(PATIENCE, || gate.waiting() == 1));
    drop(connection);
    gate.open();
    assert!(wait_until(PATIENCE, || server.read(&path("s")).text() == "x"));
}

/// A follower whose read failed is sent away for a moment; its browser comes back from
/// the last id and misses nothing.
#[test]
fn a_follow_whose_read_fails_is_ended_with_a_time_to_come_again() {
    let (server, faulty) = stage();
    server.append("s", "text/plain", "a");
    let full = StoreError::QueueFull { queue: "reader" };
    let live = format!("{}?live=events", path("s"));
    // The first read opens the follow; what fails is the next.
    faulty.inject(Method::Read, When::Every(2), Fault::Refuse(full));
    let mut follower = Follower::open(&server, &live);
    assert_eq!(follower.rest(), [message(&at(1), "a")]);
    assert!(follower.retry_ms.is_some());
    faulty.heal();
    server.append("s", "text/plain", "b");
    let mut again = Follower::resume(&server, &live, follower.cursor());
    assert_eq!(again.message(), message(&at(2), "b"));
}

/// An EventSource gives up for good on a 503; everyone else is told when to come again.
#[test]
fn a_follow_that_meets_an_overloaded_store_is_sent_away_and_other_reads_are_503() {
    let (server, faulty) = stage();
    let full = StoreError::QueueFull { queue: "reader" };
    faulty.inject(Method::Read, When::Always, Fault::Refuse(full));
    for query in ["?live=events", "?live=sse&offset=-1"] {
        let found = server.read(&format!("{}{query}", path("s")));
        assert_eq!((found.status, found.header("Content-Type")), (200, Some("text/event-stream")));
        assert!(found.text().starts_with("retry: "), "{}", found.text());
    }
    for query in ["", "?live=long-poll&offset=-1"] {
        let refused = server.read(&format!("{}{query}", path("s")));
        assert_problem(&refused, 503, "overloaded");
        assert!(refused.header("Retry-After").is_some());
    }
}

#[test]
fn a_read_that_fails_is_an_error_and_not_an_empty_stream() {
    let (server, faulty) = stage();
    for method in [Method::Read, Method::Newest, Method::List, Method::Describe] {
        let failed = StoreError::Failed { reason: "EIO".into() };
        faulty.inject(method, When::Always, Fault::Refuse(failed));
    }
    for target in ["/", "/v1/streams", "/v1/stream/s", "/v1/stream/s?live=events", "/stream"] {
        assert_problem(&server.read(target), 500, "storage_failed");
    }
    assert_eq!(server.call(&Request::new("HEAD", &path("s"))).status, 500);
}
