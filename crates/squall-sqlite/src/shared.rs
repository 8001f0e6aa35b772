//! What callers, readers and the committer share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use squall_stream::UnixMillis;
use squall_stream::instant::Clock;
use squall_stream::observer::{Health, StoreObserver, UnreadyReason};
use squall_stream::request::StoreError;
use squall_stream::store::StoreGauges;

use crate::newest::NewestCache;
use crate::queue::Queue;
use crate::usage::Usage;

pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) observer: Arc<dyn StoreObserver>,
    pub(crate) queue: Queue,
    pub(crate) newest: NewestCache,
    pub(crate) usage: Usage,
    pub(crate) counters: Counters,
    pub(crate) health: HealthCell,
}

/// What the committer counts. Only it writes, anyone reads.
#[derive(Default)]
pub(crate) struct Counters {
    batches: AtomicU64,
    changes: AtomicU64,
    events: AtomicU64,
    event_bytes: AtomicU64,
    checkpoints: AtomicU64,
    wal_bytes: AtomicU64,
    cached_streams: AtomicU64,
}

impl Counters {
    pub(crate) fn committed(&self, changes: usize, events: u64, event_bytes: u64) {
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.changes.fetch_add(changes as u64, Ordering::Relaxed);
        self.events.fetch_add(events, Ordering::Relaxed);
        self.event_bytes.fetch_add(event_bytes, Ordering::Relaxed);
    }

    pub(crate) fn checkpointed(&self) {
        self.checkpoints.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn set_wal_bytes(&self, bytes: u64) {
        self.wal_bytes.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn set_cached_streams(&self, streams: usize) {
        self.cached_streams.store(streams as u64, Ordering::Relaxed);
    }
}

impl Shared {
    /// The present, for what is stored or expires.
    pub(crate) fn now(&self) -> UnixMillis {
        (self.clock)()
    }

    pub(crate) fn gauges(&self) -> StoreGauges {
        let (append_queue_length, append_queue_bytes, append_queue_refusals_total) =
            self.queue.gauges();
        let counters = &self.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        StoreGauges {
            append_queue_length,
            append_queue_bytes,
            append_queue_refusals_total,
            batches_total: read(&counters.batches),
            batched_changes_total: read(&counters.changes),
            appended_events_total: read(&counters.events),
            appended_bytes_total: read(&counters.event_bytes),
            wal_bytes: read(&counters.wal_bytes),
            checkpoints_total: read(&counters.checkpoints),
            cached_streams: read(&counters.cached_streams),
            newest_cache_bytes: self.newest.bytes(),
            ..StoreGauges::default()
        }
    }

    /// Notes that the store has failed, and tells those whose changes wait.
    pub(crate) fn fail(&self, reason: &str) {
        let reason = reason.to_owned();
        self.set_health(Health::Failed { reason: reason.clone() });
        self.queue.fail(&reason);
    }

    /// Notes the store's health and tells the observer if it is news. A failure is final,
    /// and so is a shutdown but for a failure.
    pub(crate) fn set_health(&self, health: Health) {
        if self.health.set(&health) {
            self.observer.health_changed(&health);
        }
    }
}

/// The store's health, quick to ask while it is good.
pub(crate) struct HealthCell {
    ready: AtomicBool,
    health: Mutex<Health>,
}

impl HealthCell {
    pub(crate) fn ready() -> Self {
        Self { ready: AtomicBool::new(true), health: Mutex::new(Health::Ready) }
    }

    pub(crate) fn get(&self) -> Health {
        let health = self.health.lock();
        health.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// What a change is refused with, if it is.
    pub(crate) fn refusal(&self) -> Option<StoreError> {
        if self.is_ready() {
            return None;
        }
        match self.get() {
            Health::Ready => None,
            Health::Unready(reason) => Some(StoreError::Unready(reason)),
            Health::Failed { reason } => Some(StoreError::Failed { reason }),
        }
    }

    fn set(&self, health: &Health) -> bool {
        let mut held = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        let is_final = match &*held {
            Health::Failed { .. } => true,
            Health::Unready(UnreadyReason::ShuttingDown) => {
                !matches!(health, Health::Failed { .. })
            }
            Health::Ready | Health::Unready(_) => false,
        };
        if is_final || *held == *health {
            return false;
        }
        *held = health.clone();
        self.ready.store(*held == Health::Ready, Ordering::Release);
        true
    }
}
