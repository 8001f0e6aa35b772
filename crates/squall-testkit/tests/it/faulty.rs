//! A faulty store does what its script says, and is a store apart from that.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use squall_stream::conformance::{self, Engine, Record, Setup};
use squall_stream::limits::StreamLimits;
use squall_stream::memory::MemoryStore;
use squall_stream::request::{Append, AppendError, StoreError};
use squall_stream::{ContentType, StreamName, StreamStore, UnixMillis};
use squall_testkit::faulty::{Fault, FaultyStore, Gate, Method, When};
use tokio::time::Instant;

struct Faultless;

impl Engine for Faultless {
    fn open(&mut self, setup: Setup) -> Arc<dyn StreamStore> {
        let inner = MemoryStore::new(setup.limits, setup.clock, setup.observer);
        Arc::new(FaultyStore::new(Arc::new(inner), 0))
    }

    fn keeps_data(&self) -> bool {
        false
    }
}

#[test]
fn without_a_fault_it_is_a_store() {
    conformance::run(&|| Box::new(Faultless));
}

fn store(seed: u64) -> (FaultyStore, Arc<Record>) {
    let record = Arc::new(Record::default());
    let observer = Arc::<Record>::clone(&record);
    let clock = Arc::new(|| UnixMillis(0));
    let inner = MemoryStore::new(StreamLimits::default(), clock, observer);
    (FaultyStore::new(Arc::new(inner), seed), record)
}

fn append() -> Append {
    let name = StreamName::parse("s").expect("a name");
    let mut append = Append::new(name, ContentType::text_plain(), vec![Bytes::from("x")]);
    append.create = true;
    append
}

fn refusal() -> Fault {
    Fault::Refuse(StoreError::QueueFull { queue: "append" })
}

/// Which of so many appends are acknowledged.
async fn acked(store: &FaultyStore, appends: usize) -> Vec<bool> {
    let mut acked = Vec::new();
    for _ in 0..appends {
        acked.push(store.append(append()).await.is_ok());
    }
    acked
}

#[tokio::test]
async fn refusals_strike_as_scripted_and_store_nothing() {
    let (store, record) = store(1);
    store.inject(Method::Append, When::Next(2), refusal());
    assert_eq!(acked(&store, 4).await, [false, false, true, true]);
    store.heal();
    store.inject(Method::Append, When::Every(3), refusal());
    assert_eq!(acked(&store, 6).await, [true, true, false, true, true, false]);
    assert_eq!(store.calls(Method::Append), 10);
    // A creation, and an append for each that was not refused.
    assert_eq!(record.len(), 1 + 6);
}

#[tokio::test]
async fn one_seed_gives_one_history() {
    let mut histories = Vec::new();
    for seed in [7, 7, 8] {
        let (store, _) = store(seed);
        store.inject(Method::Append, When::Percent(50), refusal());
        histories.push(acked(&store, 64).await);
    }
    assert_eq!(histories[0], histories[1]);
    assert_ne!(histories[0], histories[2]);
}

#[tokio::test]
async fn a_lost_answer_leaves_the_event() {
    let (store, record) = store(1);
    let lost = Fault::LoseAnswer(StoreError::OutcomeUnknown);
    store.inject(Method::Append, When::Next(1), lost);
    let unknown = AppendError::Store(StoreError::OutcomeUnknown);
    assert_eq!(store.append(append()).await, Err(unknown));
    assert_eq!(record.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn delays_take_tokio_time_before_or_behind_the_store() {
    let (store, record) = store(1);
    let (least, most) = (Duration::from_secs(10), Duration::from_secs(20));
    store.inject(Method::Append, When::Next(1), Fault::Delay(least..=most));
    let begin = Instant::now();
    let delayed = store.append(append());
    tokio::time::sleep(least - Duration::from_millis(1)).await;
    assert!(record.is_empty());
    delayed.await.expect("appended");
    assert!((least..=most + Duration::from_millis(1)).contains(&begin.elapsed()));

    store.inject(Method::Append, When::Next(1), Fault::DelayAnswer(least..=least));
    let begin = Instant::now();
    let mut late = store.append(append());
    let early = tokio::time::timeout(Duration::from_secs(1), &mut late).await;
    early.expect_err("the answer is late");
    assert_eq!(record.len(), 3, "the observer was told");
    late.await.expect("appended");
    assert!(begin.elapsed() >= least);
}

/// A caller that goes away while the store is stuck loses nothing.
#[tokio::test(start_paused = true)]
async fn a_stalled_append_outlives_its_caller() {
    let (store, record) = store(1);
    let gate = Gate::default();
    store.inject(Method::Append, When::Always, Fault::Stall(gate.clone()));
    let mut stalled = store.append(append());
    let early = tokio::time::timeout(Duration::from_secs(60), &mut stalled).await;
    early.expect_err("the gate is shut");
    drop(stalled);
    assert_eq!((gate.waiting(), record.len()), (1, 0));
    gate.open();
    store.append(append()).await.expect("the gate is open");
    assert_eq!(record.len(), 3);
    assert_eq!(gate.waiting(), 0);
}
