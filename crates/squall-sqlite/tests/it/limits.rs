//! Queues refuse at once when they are full.

use std::time::Duration;

use squall_stream::StreamStore;
use squall_stream::observer::Health;
use squall_stream::request::{AppendError, StoreError, StreamError};

use crate::support::{Place, append, name};

/// While the committer is held up from outside, the queue fills and then refuses.
#[tokio::test]
async fn a_full_append_queue_refuses_at_once_and_stores_what_it_took() {
    let place = Place::new();
    let opened = place.open_with(|config| config.append_queue_max = 10);
    let outside = place.outside();
    outside.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first = opened.store.append(append("s", "x"));
    while opened.store.gauges().append_queue_length > 0 {
        tokio::task::yield_now().await;
    }
    let waiting: Vec<_> = (0..10).map(|_| opened.store.append(append("s", "x"))).collect();
    let refused = opened.try_append("s", "refused").await;
    let full = StoreError::QueueFull { queue: "append" };
    assert_eq!(refused, Err(AppendError::Store(full)));
    assert_eq!(opened.store.gauges().append_queue_refusals_total, 1);
    assert_eq!(opened.store.gauges().append_queue_length, 10);
    outside.execute_batch("ROLLBACK").unwrap();
    first.await.unwrap();
    for append in waiting {
        append.await.unwrap();
    }
    assert_eq!(opened.payloads("s").await.len(), 11);
}

#[tokio::test]
async fn an_append_outlives_the_future_that_nobody_waits_for() {
    let place = Place::new();
    let opened = place.open();
    for _ in 0..100 {
        drop(opened.store.append(append("s", "kept")));
    }
    opened.shut_down().await;
    assert_eq!(place.open().payloads("s").await.len(), 100);
}

#[tokio::test]
async fn a_full_reader_queue_refuses_at_once() {
    let place = Place::new();
    let opened = place.open_with(|config| {
        config.reader_queue_max = 3;
        config.readers = 1;
    });
    opened.append("s", "x").await;
    let reads: Vec<_> = (0..2_000).map(|_| opened.store.describe(name("s"))).collect();
    let mut refusals = 0;
    for read in reads {
        match read.await {
            Ok(info) => assert_eq!(info.events, 1),
            Err(error) => {
                let full = StoreError::QueueFull { queue: "reader" };
                assert_eq!(error, StreamError::Store(full));
                refusals += 1;
            }
        }
    }
    assert!(refusals > 0);
    assert_eq!(opened.store.gauges().reader_queue_refusals_total, refusals);
    assert_eq!(opened.store.health(), Health::Ready);
}

/// A read that takes too long is interrupted: its snapshot holds the log.
#[tokio::test]
async fn a_read_past_its_time_is_interrupted() {
    let place = Place::new();
    let opened = place.open_with(|config| config.read_max = Duration::ZERO);
    for at in 0..20 {
        let mut many = append("s", "x");
        many.events = vec![bytes::Bytes::from(format!("{at}")); 5_000];
        opened.store.append(many).await.unwrap();
    }
    let target = squall_stream::request::ReadTarget::Name(name("s"));
    let from = squall_stream::ReadFrom::Start;
    let read = squall_stream::request::Read { target, from, bytes_max: 1 << 30 };
    let error = opened.store.read(read).await.unwrap_err();
    assert!(error.to_string().contains("took too long"), "{error}");
}
