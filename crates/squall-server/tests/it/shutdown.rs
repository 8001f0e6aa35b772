//! Shutting down: followers are sent away, and come back spread out.

use std::time::{Duration, Instant};

use squall_server::Ended;

use crate::follower::Follower;
use crate::support::{TestServer, path};

const FOLLOWERS: u64 = 200;

/// Other servers wait for ever for followers that never end (`axum#2673`, `hyper#2787`);
/// and a herd that comes back in the same second is the next outage (`hermes-webui#2661`).
#[test]
fn idle_followers_are_ended_and_told_to_come_back_at_different_times() {
    let server = TestServer::with(|config| config.drain_max = Duration::from_secs(60));
    server.create("s", "text/plain");
    let mut followers: Vec<Follower> = (0..FOLLOWERS)
        .map(|index| {
            let query = if index % 2 == 0 { "live=events" } else { "live=sse&offset=now" };
            Follower::open(&server, &format!("{}?{query}", path("s")))
        })
        .collect();
    server.append("s", "text/plain", "the last event");
    for follower in &mut followers {
        while follower.message().data != "the last event" {}
    }
    let begun = Instant::now();
    let ending = std::thread::spawn(move || server.stop());
    let mut waits = Vec::new();
    for mut follower in followers.drain(..) {
        assert!(follower.rest().iter().all(|message| message.event == "control"));
        waits.push(follower.retry_ms.unwrap());
    }
    assert_eq!(ending.join().unwrap(), Ended::Drained);
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert!(waits.iter().all(|wait| (1_000..=10_000).contains(wait)));
    // Over nine seconds, no second has more than half of them: by chance never.
    for second in 1..=10 {
        let herd = waits.iter().filter(|wait| **wait / 1_000 == second).count();
        assert!(herd < waits.len() / 2, "{herd} come back in second {second}");
    }
}

#[test]
fn a_follow_that_waits_for_its_stream_is_ended_too() {
    let server = TestServer::start();
    let mut follower = Follower::open(&server, "/stream");
    server.wait_for_followers(1);
    let ending = std::thread::spawn(move || server.stop());
    assert_eq!(follower.rest(), []);
    assert!(follower.retry_ms.is_some());
    drop(follower);
    assert_eq!(ending.join().unwrap(), Ended::Drained);
}

#[test]
fn a_server_without_connections_stops_at_once() {
    assert_eq!(TestServer::start().stop(), Ended::Drained);
}
