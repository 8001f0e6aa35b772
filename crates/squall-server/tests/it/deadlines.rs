//! Peers that stop: each is cut when its time is up, and nobody else is.

use std::time::Duration;

use squall_testkit::http::Request;
use squall_testkit::wait::{pause, wait_until};

use crate::raw::{Raw, exchange, statuses};
use crate::support::{PATIENCE, TestServer};

const TEXT: &str = "text/plain";
const HEALTHY: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn idle_connections_are_closed_and_followers_are_not() {
    let server = TestServer::with(|config| {
        config.idle_max = Duration::from_millis(300);
        config.heartbeat = Duration::from_secs(3600);
    });
    let mut follow = server.connect();
    follow.send(&Request::new("GET", "/stream")).unwrap();
    assert_eq!(follow.receive_head().unwrap().status, 200);
    assert_eq!(exchange(&server, ""), "");
    assert_eq!(statuses(&exchange(&server, HEALTHY.repeat(3))), [200, 200, 200]);
    server.call(&Request::new("POST", "/").body("event"));
    let chunk = String::from_utf8(follow.receive_chunk().unwrap()).unwrap();
    assert!(chunk.contains("data:event\n\n"), "{chunk}");
}

/// One blocked peer: 22 handlers hung for 17 to 47 minutes in `launchdarkly/eventsource#78`.
#[test]
fn a_follower_that_stops_reading_is_cut_and_others_miss_nothing() {
    let server = TestServer::with(|config| config.write_max = Duration::from_millis(500));
    server.create("s", TEXT);
    let follow = |mut raw: Raw| {
        raw.send("GET /v1/stream/s?live=events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        raw.receive_until("\r\n\r\n");
        raw
    };
    let mut stalled = follow(Raw::open_small(&server));
    let mut reading = follow(Raw::open(&server));
    server.wait_for_followers(2);
    let event = "x".repeat(64 * 1024);
    let mut count = 0;
    let cut = wait_until(PATIENCE, || {
        count += 1;
        server.append("s", TEXT, format!("{count:06}{event}"));
        let received = reading.receive_until("x\n\n");
        assert!(received.contains(&format!("data:{count:06}")), "{count}");
        server.metric("squall_followers") == 1
    });
    assert!(cut, "the stalled follower is still there after {count} events");
    let received = stalled.receive_all();
    assert!(received.len() < count * event.len(), "{} bytes", received.len());
}

#[test]
fn a_client_that_does_not_take_its_page_is_cut() {
    let server = TestServer::with(|config| config.write_max = Duration::from_millis(500));
    server.create("big", "application/octet-stream");
    server.append("big", "application/octet-stream", vec![0; 12 << 20]);
    let mut slow = Raw::open_small(&server);
    slow.send("GET /v1/stream/big HTTP/1.1\r\nHost: localhost\r\n\r\n");
    slow.receive_until("HTTP/1.1 200");
    // Of the sweep and the kernel's own timer one comes first; the metric asks for itself.
    assert!(wait_until(PATIENCE, || server.metric("squall_connections") == 1));
    assert!(slow.receive_all().len() < 12 << 20);
}

/// A slow reader is no idle one.
#[test]
fn a_client_that_takes_its_page_slowly_gets_all_of_it() {
    let server = TestServer::with(|config| config.idle_max = Duration::from_millis(300));
    server.create("big", "application/octet-stream");
    server.append("big", "application/octet-stream", vec![b'x'; 12 << 20]);
    let mut slow = Raw::open_small(&server);
    slow.send("GET /v1/stream/big HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let mut received = slow.receive_until("HTTP/1.1 200").len();
    for _ in 0..120 {
        received += slow.receive_until("xxxx").len();
        pause(Duration::from_millis(25));
    }
    received += slow.receive_all().len();
    assert!(received > 12 << 20, "{received} bytes");
}

/// After a refusal the rest of a request is thrown away for a moment, not for ever.
#[test]
fn a_client_that_goes_on_after_its_refusal_is_cut() {
    let server = TestServer::with(|config| {
        config.event_bytes_max = 1000;
        config.idle_max = Duration::from_millis(300);
        config.head_max = Duration::from_millis(300);
    });
    let mut raw = Raw::open(&server);
    raw.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n");
    raw.receive_until("HTTP/1.1 413");
    assert!(wait_until(PATIENCE, || !raw.try_send("x")));
}
