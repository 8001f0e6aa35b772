//! The engine in memory passes the suite, and does what only it can.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use squall_stream::conformance::{self, Engine, Record, Setup, block_on};
use squall_stream::limits::StreamLimits;
use squall_stream::memory::MemoryStore;
use squall_stream::observer::{Change, Health, UnreadyReason};
use squall_stream::request::{Append, AppendError, Create, StoreError};
use squall_stream::{ContentType, Expiry, StreamName, StreamStore, UnixMillis};

/// A place whose store is never really dropped, so that opening it again finds everything.
#[derive(Default)]
struct Memory(Option<Arc<MemoryStore>>);

impl Engine for Memory {
    fn open(&mut self, setup: Setup) -> Arc<dyn StreamStore> {
        let store = self.0.get_or_insert_with(|| {
            let Setup { limits, clock, observer } = setup;
            Arc::new(MemoryStore::new(limits, clock, observer))
        });
        store.set_health(Health::Ready);
        Arc::<MemoryStore>::clone(store)
    }

    fn keeps_data(&self) -> bool {
        true
    }
}

#[test]
fn memory_passes_the_suite() {
    conformance::run(&|| Box::new(Memory::default()));
}

#[test]
fn memory_answers_random_operations_as_the_rules_do() {
    conformance::random_operations(&|| Box::new(Memory::default()), 60, 256);
}

fn store() -> (MemoryStore, Arc<Record>, Arc<AtomicU64>) {
    let now = Arc::new(AtomicU64::new(0));
    let clock = {
        let now = Arc::clone(&now);
        Arc::new(move || UnixMillis(now.load(Ordering::SeqCst)))
    };
    let record = Arc::new(Record::default());
    let observer = Arc::<Record>::clone(&record);
    let store = MemoryStore::new(StreamLimits::default(), clock, observer);
    (store, record, now)
}

fn append() -> Append {
    let name = StreamName::parse("s").expect("a name");
    let mut append = Append::new(name, ContentType::text_plain(), vec![Bytes::from("x")]);
    append.create = true;
    append
}

/// A follow of an expired stream must end although nobody asks for the stream.
#[test]
fn a_sweep_ends_what_has_expired() {
    let (store, record, now) = store();
    for (name, ttl) in [("short", 5), ("long", 50)] {
        let create = Create {
            name: StreamName::parse(name).unwrap(),
            content_type: None,
            expiry: Expiry::Ttl(ttl),
            closed: false,
            events: Vec::new(),
        };
        block_on(store.create(create)).unwrap();
    }
    now.store(5_000, Ordering::SeqCst);
    assert_eq!(record.len(), 2);
    store.sweep(UnixMillis(5_000));
    assert_eq!(store.gauges().cached_streams, 1);
    let Change::Ended { stream } = record.wait_for(2) else {
        panic!("an end is told");
    };
    let Change::Created { stream: short, .. } = record.wait_for(0) else {
        panic!("a creation is told");
    };
    assert_eq!(stream, short);
    store.sweep(UnixMillis(5_000));
    assert_eq!(record.len(), 3);
}

#[test]
fn an_unready_store_refuses_changes_and_recovers() {
    let (store, record, _) = store();
    store.set_health(Health::Unready(UnreadyReason::DiskFull));
    let refused = AppendError::Store(StoreError::Unready(UnreadyReason::DiskFull));
    assert_eq!(block_on(store.append(append())), Err(refused));
    assert!(record.is_empty());
    store.set_health(Health::Ready);
    block_on(store.append(append())).unwrap();
}

/// Nothing has to be polled: a caller that goes away loses nothing.
#[test]
fn an_append_happens_when_it_is_called() {
    let (store, record, _) = store();
    drop(store.append(append()));
    assert_eq!(record.len(), 2);
}
