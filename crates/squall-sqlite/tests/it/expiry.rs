//! Streams that end by themselves, over restarts and clocks that jump.

use std::time::Duration;

use squall_stream::observer::{Change, Health};
use squall_stream::{Expiry, StreamStore};

use crate::support::{Place, append};

const SECOND: i64 = 1_000;

#[tokio::test]
async fn a_sweep_ends_what_nobody_asks_for() {
    let place = Place::new();
    let opened = place.open();
    opened.create("short", Expiry::Ttl(10)).await;
    opened.create("long", Expiry::Ttl(100)).await;
    opened.append("short", "x").await;
    place.pass(10 * SECOND);
    opened.watcher.wait_for_change(|change| matches!(change, Change::Ended { .. }));
    assert!(!opened.exists("short").await);
    assert!(opened.exists("long").await);
    place.ask_until("SELECT count(*) FROM events", 0).await;
    assert_eq!(place.ask("SELECT count(*) FROM streams"), 1);
}

/// Reads renew in memory; what they renewed is in the database soon enough.
#[tokio::test]
async fn a_renewal_by_a_read_is_written_down() {
    let place = Place::new();
    let opened = place.open();
    opened.create("s", Expiry::Ttl(40)).await;
    let used_at = place.ask("SELECT used_at FROM streams");
    for _ in 0..3 {
        place.pass(12 * SECOND);
        opened.page("s", 0, 1).await;
    }
    place.ask_until("SELECT used_at FROM streams", used_at + 36 * SECOND).await;
    assert_eq!(place.ask("SELECT deadline - used_at FROM streams"), 40 * SECOND);
}

#[tokio::test]
async fn a_shutdown_writes_every_renewal_down() {
    let place = Place::new();
    let opened = place.open();
    opened.create("s", Expiry::Ttl(100)).await;
    let used_at = place.ask("SELECT used_at FROM streams");
    place.pass(SECOND);
    opened.page("s", 0, 1).await;
    opened.shut_down().await;
    assert_eq!(place.ask("SELECT used_at FROM streams"), used_at + SECOND);
}

/// Renewals may not have been written before a crash, so a stream gets one more interval.
#[tokio::test]
async fn a_stream_lives_one_interval_after_an_opening() {
    let place = Place::new();
    let opened = place.open();
    opened.create("s", Expiry::Ttl(40)).await;
    opened.create("fixed", Expiry::At(squall_stream::UnixMillis(1_800_000_020_000))).await;
    opened.shut_down().await;
    place.pass(3_600 * SECOND);
    let opened = place.open();
    assert!(!opened.exists("fixed").await, "an instant is an instant");
    place.pass(10 * SECOND - 1);
    assert!(opened.exists("s").await);
    place.pass(1);
    assert!(!opened.exists("s").await);
    opened.watcher.wait_for_change(|change| matches!(change, Change::Ended { .. }));
}

#[tokio::test]
async fn a_clock_that_jumps_back_delays_and_never_revives() {
    let place = Place::new();
    let opened = place.open_with(|config| config.tick = Duration::from_secs(3_600));
    opened.create("gone", Expiry::Ttl(10)).await;
    opened.create("late", Expiry::Ttl(1_000)).await;
    place.pass(10 * SECOND);
    assert!(!opened.exists("gone").await);
    place.pass(-3_600 * SECOND);
    assert!(!opened.exists("gone").await, "found expired once");
    assert!(opened.exists("late").await);
    let first = opened.append("late", "x").await;
    place.pass(1_000 * SECOND);
    assert!(opened.exists("late").await, "delayed by the jump");
    opened.append("late", "y").await;
    let backwards = "SELECT count(*) FROM events a JOIN events b ON b.seq = a.seq + 1 \
                     WHERE b.appended_at < a.appended_at";
    assert_eq!(place.ask(backwards), 0);
    // The name is free although no sweep has come by.
    let again = opened.append("gone", "z").await;
    assert_ne!(again.stream, first.stream);
    opened.store.shut_down().await.unwrap();
}

/// Case: an append is decided in time, and its commit takes until after the stream's end.
#[tokio::test]
async fn what_is_appended_in_time_renews_even_if_its_commit_takes_long() {
    let place = Place::new();
    let opened = place.open();
    opened.create("s", Expiry::Ttl(10)).await;
    let created = opened.append("s", "first").await;
    place.pass(10 * SECOND - 1);
    let outside = place.outside();
    outside.execute_batch("BEGIN IMMEDIATE").unwrap();
    let appended = opened.store.append(append("s", "second"));
    // The committer decides it at once and then waits for the lock.
    tokio::time::sleep(Duration::from_millis(200)).await;
    place.pass(1);
    assert!(opened.exists("s").await);
    outside.execute_batch("ROLLBACK").unwrap();
    assert_eq!(appended.await.unwrap().stream, created.stream);
    assert_eq!(opened.payloads("s").await, ["first", "second"]);
}

/// More streams are renewed than one sweep writes down.
#[tokio::test]
async fn many_renewals_are_written_down_one_sweep_after_the_other() {
    let place = Place::new();
    let opened = place.open_with(|config| config.tick = Duration::from_secs(2));
    for at in 0..1_200 {
        opened.create(&format!("s{at}"), Expiry::Ttl(40)).await;
    }
    let used_at = place.ask("SELECT min(used_at) FROM streams");
    place.pass(30 * SECOND);
    for at in 0..1_200 {
        opened.page(&format!("s{at}"), 0, 1).await;
    }
    let started = std::time::Instant::now();
    place.ask_until("SELECT min(used_at) FROM streams", used_at + 30 * SECOND).await;
    assert!(started.elapsed() < Duration::from_secs(4), "three ticks were not waited for");
}

/// One stream that cannot be ended, and one that cannot be read, hold up no other.
#[tokio::test]
async fn a_bad_row_does_not_stop_the_sweep() {
    let place = Place::new();
    let opened = place.open();
    for at in 0..9 {
        opened.create(&format!("s{at}"), Expiry::Ttl(10)).await;
    }
    opened.create("used", Expiry::Ttl(100)).await;
    opened.shut_down().await;
    let trigger = "CREATE TRIGGER refuse BEFORE DELETE ON streams WHEN old.name = 's3' \
                   BEGIN SELECT RAISE(ABORT, 'refused by a trigger'); END; \
                   UPDATE streams SET content_type = 'none' WHERE name = 's5';";
    place.outside().execute_batch(trigger).unwrap();
    let opened = place.open();
    let used_at = place.ask("SELECT max(used_at) FROM streams");
    place.pass(30 * SECOND);
    opened.page("used", 0, 1).await;
    place.ask_until("SELECT count(*) FROM streams", 3).await;
    place.ask_until("SELECT max(used_at) FROM streams", used_at + 30 * SECOND).await;
    assert_eq!(opened.store.health(), Health::Ready);
    place.outside().execute_batch("DROP TRIGGER refuse").unwrap();
    place.ask_until("SELECT count(*) FROM streams", 2).await;
}
