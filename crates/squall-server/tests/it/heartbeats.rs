//! Heartbeats: comments that keep a quiet follow open and move nothing.

use std::time::Duration;

use crate::follower::{Follower, message};
use crate::support::{TestServer, at, path};

fn stage() -> TestServer {
    let server = TestServer::with(|config| config.heartbeat = Duration::from_millis(100));
    server.create("s", "text/plain");
    server
}

/// An id on a synthetic message would carry the client past events that it has not seen.
#[test]
fn a_quiet_follow_gets_comments_that_move_no_cursor() {
    let server = stage();
    server.append("s", "text/plain", "a");
    for query in ["live=events", "live=sse&offset=-1"] {
        let mut follower = Follower::open(&server, &format!("{}?{query}", path("s")));
        assert_eq!(follower.message().data, "a");
        while follower.heartbeats < 2 {
            let chunk = follower.chunk().unwrap();
            if !chunk.contains("data:") {
                assert_eq!(chunk, ":\n\n");
            }
        }
        assert_eq!(follower.cursor(), at(1));
    }
}

#[test]
fn events_come_between_heartbeats() {
    let server = stage();
    let mut follower = Follower::open(&server, &format!("{}?live=events", path("s")));
    for count in 1..=3 {
        while follower.heartbeats < count {
            follower.chunk().unwrap();
        }
        let tail = server.append("s", "text/plain", "x");
        assert_eq!(follower.message(), message(&tail, "x"));
    }
}

/// Nothing has an id there yet, and proxies close a silent connection all the same.
#[test]
fn a_follow_that_waits_for_its_stream_is_kept_open_too() {
    let server = stage();
    let mut follower = Follower::open(&server, "/stream");
    while follower.heartbeats < 2 {
        follower.chunk().unwrap();
    }
    server.create("default", "text/plain");
    server.append("default", "text/plain", "a");
    assert_eq!(follower.message(), message(&at(1), "a"));
}

/// A follow has an age, so that caches and load balancers see new connections.
#[test]
fn a_follow_that_is_old_enough_is_ended_with_a_wish_when_to_come_again() {
    let server = TestServer::with(|config| config.sse_age_max = Some(Duration::from_millis(10)));
    server.create("s", "text/plain");
    server.append("s", "text/plain", "a");
    let mut follower = Follower::open(&server, &format!("{}?live=events", path("s")));
    assert_eq!(follower.rest(), [message(&at(1), "a")]);
    assert!(follower.retry_ms.is_some());
    let again = Follower::resume(&server, &format!("{}?live=events", path("s")), follower.cursor());
    assert_eq!(again.head.status, 200);
}
