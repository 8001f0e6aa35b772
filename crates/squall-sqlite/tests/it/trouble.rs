//! Full disks, locks held elsewhere, changes that cannot be stored, and damage.

use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use squall_stream::StreamStore;
use squall_stream::observer::{Health, UnreadyReason};
use squall_stream::request::{AppendError, StoreError};

use crate::support::{Place, append, name};

/// A change that SQLite refuses must not take its batch with it.
#[tokio::test]
async fn only_the_bad_change_of_a_batch_fails() {
    let place = Place::new();
    let opened = place.open();
    opened.append("s", "first").await;
    let trigger = "CREATE TRIGGER refuse BEFORE INSERT ON events WHEN new.payload = x'626164' \
                   BEGIN SELECT RAISE(ABORT, 'refused by a trigger'); END";
    place.outside().execute_batch(trigger).unwrap();
    let outside = place.outside();
    outside.execute_batch("BEGIN IMMEDIATE").unwrap();
    let payloads = ["a", "b", "bad", "c", "bad", "d"];
    let appends: Vec<_> = payloads.map(|event| opened.store.append(append("s", event))).into();
    let fresh = opened.store.append(append("new", "bad"));
    outside.execute_batch("ROLLBACK").unwrap();
    for (payload, outcome) in payloads.into_iter().zip(appends) {
        match outcome.await {
            Ok(_) => assert_ne!(payload, "bad"),
            Err(error) => {
                assert_eq!(payload, "bad");
                let failed = matches!(&error, AppendError::Store(StoreError::Failed { reason })
                    if reason.contains("refused by a trigger"));
                assert!(failed, "{error:?}");
            }
        }
    }
    fresh.await.unwrap_err();
    assert!(!opened.exists("new").await, "undone with its append");
    assert_eq!(opened.payloads("s").await, ["first", "a", "b", "c", "d"]);
    assert_eq!(opened.store.health(), Health::Ready);
    assert_eq!(opened.append("s", "e").await.tail.position(), Some(10));
}

/// Case: the disk is full. Nothing is half there, reads go on, and appends are taken
/// again as soon as there is space.
#[tokio::test]
async fn a_full_disk_refuses_appends_and_the_store_recovers_by_itself() {
    let place = Place::new();
    let opened = place.open_with(|config| config.max_page_count = Some(300));
    let full = AppendError::Store(StoreError::Unready(UnreadyReason::DiskFull));
    opened.append("kept", "small").await;
    let large = "x".repeat(50_000);
    let mut stored = 0;
    let refused = loop {
        match opened.try_append("large", &large).await {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 100, "300 pages hold no more");
    };
    assert_eq!(refused, full);
    assert_eq!(opened.store.health(), Health::Unready(UnreadyReason::DiskFull));
    assert_eq!(opened.try_append("kept", "more").await, Err(full));
    assert_eq!(opened.payloads("large").await.len(), stored);
    opened.store.delete(name("large")).await.unwrap();
    opened.watcher.wait_for_health(|health| *health == Health::Ready);
    opened.append("kept", "again").await;
    assert_eq!(opened.payloads("kept").await, ["small", "again"]);
    opened.shut_down().await;
    assert_eq!(place.open().payloads("kept").await, ["small", "again"]);
}

/// Case: 200 appends at once while somebody's shell holds the write lock for two seconds.
#[tokio::test]
async fn a_lock_held_outside_delays_appends_and_fails_none() {
    let place = Place::new();
    let opened = Arc::new(place.open());
    opened.append("s", "first").await;
    let outside = place.outside();
    outside.execute_batch("BEGIN IMMEDIATE").unwrap();
    let appends: Vec<_> = (0..200).map(|_| opened.store.append(append("s", "x"))).collect();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(opened.payloads("s").await, ["first"], "reads go on");
    outside.execute_batch("COMMIT").unwrap();
    for append in appends {
        append.await.unwrap();
    }
    assert_eq!(opened.payloads("s").await.len(), 201);
}

#[tokio::test]
async fn a_lock_held_too_long_is_a_refusal_and_passes() {
    let place = Place::new();
    let opened = place.open_with(|config| config.busy_timeout = Duration::from_millis(50));
    let outside = place.outside();
    outside.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = opened.try_append("s", "refused").await;
    let locked = StoreError::Unready(UnreadyReason::LockedOutside);
    assert_eq!(refused, Err(AppendError::Store(locked.clone())));
    assert_eq!(opened.try_append("s", "too").await, Err(AppendError::Store(locked)));
    outside.execute_batch("ROLLBACK").unwrap();
    opened.watcher.wait_for_health(|health| *health == Health::Ready);
    opened.append("s", "taken").await;
    assert_eq!(opened.payloads("s").await, ["taken"]);
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_a_lock_held_outside() {
    let place = Place::new();
    let opened = place.open_with(|config| config.busy_timeout = Duration::from_secs(600));
    let outside = place.outside();
    outside.execute_batch("BEGIN IMMEDIATE").unwrap();
    let append = opened.store.append(append("s", "x"));
    opened.store.shut_down().await.unwrap();
    assert!(matches!(append.await, Err(AppendError::Store(StoreError::Unready(_)))));
}

/// A database that cannot be trusted any more is not written to, and says so.
#[tokio::test]
async fn damage_stops_the_store_for_good() {
    let place = Place::new();
    let opened = place.open();
    for at in 0..200 {
        opened.append(&format!("s{at}"), &"x".repeat(1_000)).await;
    }
    opened.shut_down().await;
    let opened = place.open();
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(place.directory.path().join("squall.db"))
        .unwrap();
    let length = file.metadata().unwrap().len();
    for page in 2..length / 4_096 {
        file.write_all_at(&[0xa5; 4_096], page * 4_096).unwrap();
    }
    // Whoever meets the damage first, nothing is acknowledged.
    let outcome = opened.try_append("s7", "x").await;
    let failed = matches!(
        outcome,
        Err(AppendError::Store(StoreError::OutcomeUnknown | StoreError::Failed { .. }))
    );
    assert!(failed, "{outcome:?}");
    opened.watcher.wait_for_health(|health| matches!(health, Health::Failed { .. }));
    let later = opened.try_append("s8", "x").await;
    assert!(matches!(later, Err(AppendError::Store(StoreError::Failed { .. }))), "{later:?}");
    assert!(opened.store.shut_down().await.is_err());
    assert_eq!(opened.watcher.health().len(), 1, "a failure is final");
}
