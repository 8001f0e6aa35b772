//! Followers that lag: the ring is small, the store is not, and nothing is lost.

use squall_server::ServerConfig;

use crate::follower::Follower;
use crate::support::{TestServer, at, path};

/// Enough to fill every socket buffer between the server and a follower that does not read.
const EVENTS: u64 = 400;
const EVENT_BYTES: usize = 32_000;

fn event(index: u64) -> Vec<u8> {
    let mut event = format!("{index:08}").into_bytes();
    event.resize(EVENT_BYTES, b'.');
    event
}

/// Reads every event of both dialects and checks that each is there, once, in order.
fn check(change: impl FnOnce(&mut ServerConfig)) {
    let server = TestServer::with(change);
    server.create("s", "text/plain");
    let mut followers = ["live=events", "live=sse&offset=-1"]
        .map(|query| Follower::open(&server, &format!("{}?{query}", path("s"))));
    server.wait_for_followers(2);
    let mut connection = server.connect();
    for index in 0..EVENTS {
        let request = crate::support::post("s").header("Content-Type", "text/plain");
        assert_eq!(connection.call(&request.body(event(index))).unwrap().status, 204);
    }
    for follower in &mut followers {
        let mut next = 0;
        while next < EVENTS {
            let message = follower.message();
            if !matches!(&*message.event, "message" | "data") {
                continue;
            }
            // live=sse may give several events in one message.
            for found in message.data.as_bytes().chunks(EVENT_BYTES) {
                assert_eq!(found, event(next), "{next}");
                next += 1;
            }
            assert_eq!(message.id, at(next * EVENT_BYTES as u64));
        }
    }
    // Caught up, they are live again.
    let tail = server.append("s", "text/plain", "end");
    for follower in &mut followers {
        loop {
            let message = follower.message();
            if message.data == "end" {
                assert_eq!(message.id, tail);
                break;
            }
        }
    }
}

#[test]
fn a_follower_that_fell_off_a_small_ring_reads_the_store_again() {
    check(|config| config.ring_bytes_max = 100_000);
}

#[test]
fn a_ring_of_no_size_loses_nothing() {
    check(|config| config.ring_bytes_max = 0);
}

#[test]
fn rings_that_share_too_little_lose_nothing() {
    check(|config| config.ring_bytes_total_max = 100_000);
}
