//! The write-ahead log stays bounded, whoever reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use squall_stream::StreamStore;
use squall_stream::observer::{Health, UnreadyReason};
use squall_stream::request::{AppendError, StoreError};

use crate::support::{Place, WAIT_MAX};

const MIB: u64 = 1 << 20;

/// Readers that page without a pause must not keep the log from starting over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_stays_bounded_under_constant_paging() {
    let place = Place::new();
    let opened = Arc::new(place.open_with(|config| config.wal_checkpoint_bytes = MIB));
    opened.append("s", &"x".repeat(10_000)).await;
    let done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let (opened, done) = (Arc::clone(&opened), Arc::clone(&done));
            tokio::spawn(async move {
                let mut from = 0;
                while !done.load(Ordering::Relaxed) {
                    let page = opened.page("s", from, 65_536).await;
                    from = if page.up_to_date() { 0 } else { page.next.position().unwrap() };
                }
            })
        })
        .collect();
    let mut longest = 0;
    for _ in 0..1_500 {
        opened.append("s", &"x".repeat(10_000)).await;
        longest = longest.max(opened.store.gauges().wal_bytes);
    }
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
    assert!(longest < 8 * MIB, "the log grew to {longest} bytes over 15 MB of events");
}

#[tokio::test]
async fn an_idle_store_copies_its_log() {
    let place = Place::new();
    let opened = place.open();
    opened.append("s", "x").await;
    assert!(opened.store.gauges().wal_bytes > 0);
    let deadline = tokio::time::Instant::now() + WAIT_MAX;
    while opened.store.gauges().checkpoints_total == 0 {
        assert!(tokio::time::Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(opened.store.gauges().checkpoints_total, 1);
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(opened.store.gauges().checkpoints_total, 1, "once is enough");
}

/// Case: another process sits in a read transaction.
#[tokio::test]
async fn a_log_held_from_outside_refuses_appends_until_it_is_let_go() {
    let place = Place::new();
    let opened = place.open_with(|config| {
        config.wal_checkpoint_bytes = MIB / 4;
        config.wal_bytes_max = MIB;
    });
    opened.append("s", "first").await;
    let outside = place.outside();
    outside.execute_batch("BEGIN; SELECT count(*) FROM events").unwrap();
    let full = AppendError::Store(StoreError::Unready(UnreadyReason::WalFull));
    let mut stored = 1;
    let refused = loop {
        match opened.try_append("s", &"x".repeat(20_000)).await {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 200, "1 MiB holds no more");
    };
    assert_eq!(refused, full);
    assert_eq!(opened.store.health(), Health::Unready(UnreadyReason::WalFull));
    assert_eq!(opened.payloads("s").await.len(), stored, "reads go on");
    outside.execute_batch("ROLLBACK").unwrap();
    opened.watcher.wait_for_health(|health| *health == Health::Ready);
    opened.append("s", "again").await;
    assert!(opened.store.gauges().wal_bytes < MIB);
    assert_eq!(opened.payloads("s").await.len(), stored + 1);
}

/// What was written while somebody read is all there, and the reader saw none of it.
#[tokio::test]
async fn a_reader_outside_keeps_its_snapshot() {
    let place = Place::new();
    let opened = place.open_with(|config| config.wal_checkpoint_bytes = MIB / 8);
    opened.append("s", "first").await;
    let outside = place.outside();
    outside.execute_batch("BEGIN; SELECT count(*) FROM events").unwrap();
    for _ in 0..100 {
        opened.append("s", &"x".repeat(10_000)).await;
    }
    let seen: i64 = outside.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
    assert_eq!(seen, 1);
    outside.execute_batch("ROLLBACK").unwrap();
    assert_eq!(opened.payloads("s").await.len(), 101);
}
