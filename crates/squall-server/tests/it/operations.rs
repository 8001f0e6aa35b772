//! For those who run the server: alive, ready, and what it counts.

use squall_server::Ended;
use squall_stream::observer::{Health, UnreadyReason};
use squall_testkit::http::Request;

use crate::follower::Follower;
use crate::support::{TestServer, assert_problem, path, post};

#[test]
fn a_server_is_alive_and_ready() {
    let server = TestServer::start();
    for target in ["/healthz", "/readyz"] {
        let found = server.read(target);
        assert_eq!((found.status, found.text().as_str()), (200, "ok\n"));
        assert_eq!(server.call(&Request::new("HEAD", target)).status, 200);
    }
}

#[test]
fn a_store_that_takes_no_appends_is_unready_and_says_why() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    server.append("s", "text/plain", "abc");
    for (reason, status, code, word) in [
        (UnreadyReason::DiskFull, 507, "disk_full", "disk"),
        (UnreadyReason::WalFull, 503, "wal_full", "write-ahead log"),
        (UnreadyReason::LockedOutside, 503, "storage_locked", "lock"),
        (UnreadyReason::ShuttingDown, 503, "shutting_down", "shutting down"),
    ] {
        server.store.set_health(Health::Unready(reason));
        let found = server.read("/readyz");
        assert_problem(&found, 503, "overloaded");
        assert!(found.text().contains(word), "{}", found.text());
        assert_eq!(server.read("/healthz").status, 200);
        assert_eq!(server.metric("squall_ready"), 0);
        // Refused, never half done; whoever may come again is told when.
        let append = post("s").header("Content-Type", "text/plain").body("x");
        let refused = server.call(&append);
        assert_problem(&refused, status, code);
        assert_eq!(refused.header("Retry-After").is_some(), status == 503);
        // Reads go on.
        assert_eq!(server.read(&path("s")).text(), "abc");
    }
    server.store.set_health(Health::Ready);
    assert_eq!((server.read("/readyz").status, server.metric("squall_ready")), (200, 1));
    server.append("s", "text/plain", "d");
}

/// After a failed write nothing that the process says can be trusted: it ends.
#[test]
fn a_store_that_failed_ends_the_server() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    let mut follower = Follower::open(&server, &format!("{}?live=events", path("s")));
    server.wait_for_followers(1);
    server.store.set_health(Health::Failed { reason: "the disk said no".into() });
    assert_eq!(follower.rest(), []);
    drop(follower);
    assert_eq!(server.stop(), Ended::StoreFailed { reason: "the disk said no".into() });
}

/// Names and kinds are what dashboards are made of; a change must be meant.
#[test]
fn metrics_have_these_names() {
    let server = TestServer::start();
    let found = server.read("/metrics");
    let content_type = found.header("Content-Type").unwrap();
    assert!(content_type.starts_with("application/openmetrics-text"), "{content_type}");
    let text = found.text();
    let kinds: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    insta::assert_snapshot!("metric_names", kinds.join("\n"));
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn metrics_count_what_happened() {
    let server = TestServer::start();
    server.create("s", "application/json");
    server.append("s", "application/json", "[1,22]");
    let _follower = Follower::open(&server, &format!("{}?live=events", path("s")));
    server.wait_for_followers(1);
    assert_eq!(server.metric("squall_appended_events_total"), 2);
    assert_eq!(server.metric("squall_appended_bytes_total"), 3);
    assert_eq!(server.metric("squall_follows_total"), 1);
    assert_eq!(server.metric("squall_rings"), 1);
    assert_eq!(server.metric("squall_ready"), 1);
    server.call(&post("s").header("Origin", "http://pages.example"));
    assert_eq!(server.metric("squall_origin_refusals_total"), 1);
    assert_eq!(server.metric("squall_append_queue_refusals_total"), 0);
}
