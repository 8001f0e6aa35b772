//! The lock, the clock and the observer around the streams.

use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::event::Page;
use crate::instant::{Clock, UnixMillis};
use crate::limits::StreamLimits;
use crate::memory::table::Table;
use crate::name::StreamName;
use crate::observer::{Change, Health, StoreObserver, UnreadyReason};
use crate::offset::Offset;
use crate::request::{
    Append, AppendAck, AppendError, Create, CreateAck, CreateError, List, Listing, Newest, Read,
    ReadError, StoreError, StreamError, StreamInfo,
};
use crate::store::{BoxFuture, Lookup, StoreGauges, StreamId, StreamStore};

/// A [`StreamStore`] in memory.
///
/// An operation happens when its method is called, not when its future is polled. The
/// observer is called under the store's lock: it must not call the store.
pub struct MemoryStore {
    limits: StreamLimits,
    clock: Clock,
    observer: Arc<dyn StoreObserver>,
    guarded: Mutex<Guarded>,
}

struct Guarded {
    table: Table,
    health: Health,
    gauges: StoreGauges,
}

impl MemoryStore {
    /// An empty store that asks `clock` for the time and tells `observer` of changes.
    #[must_use]
    pub fn new(limits: StreamLimits, clock: Clock, observer: Arc<dyn StoreObserver>) -> Self {
        Self {
            limits,
            clock,
            observer,
            guarded: Mutex::new(Guarded {
                table: Table::default(),
                health: Health::Ready,
                gauges: StoreGauges::default(),
            }),
        }
    }

    /// Ends every stream that has expired by `now`. Otherwise one ends when it is next
    /// asked for.
    pub fn sweep(&self, now: UnixMillis) {
        let mut guarded = self.lock();
        guarded.table.sweep(now);
        self.tell(&mut guarded);
    }

    /// Makes the store refuse changes, or take them again, as an engine in trouble would.
    pub fn set_health(&self, health: Health) {
        let mut guarded = self.lock();
        if guarded.health != health {
            guarded.health = health;
            self.observer.health_changed(&guarded.health);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Guarded> {
        self.guarded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a look at the streams, which may end some that have expired.
    fn look<T>(&self, look: impl FnOnce(&mut Table, UnixMillis) -> T) -> T {
        let mut guarded = self.lock();
        let answer = look(&mut guarded.table, (self.clock)());
        self.tell(&mut guarded);
        answer
    }

    /// Runs a change of the streams, if changes are taken.
    fn change<T, E: From<StoreError>>(
        &self,
        change: impl FnOnce(&mut Table, UnixMillis) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut guarded = self.lock();
        match &guarded.health {
            Health::Ready => {}
            Health::Unready(reason) => return Err(StoreError::Unready(*reason).into()),
            Health::Failed { reason } => {
                let reason = reason.clone();
                return Err(StoreError::Failed { reason }.into());
            }
        }
        let answer = change(&mut guarded.table, (self.clock)());
        if !guarded.table.changes.is_empty() {
            guarded.gauges.batches_total += 1;
            guarded.gauges.batched_changes_total += 1;
        }
        self.tell(&mut guarded);
        answer
    }

    /// Tells the observer what was changed, under the lock and so in commit order.
    fn tell(&self, guarded: &mut Guarded) {
        let changes = std::mem::take(&mut guarded.table.changes);
        if changes.is_empty() {
            return;
        }
        for change in &changes {
            if let Change::Appended { events, .. } = change {
                let bytes: usize = events.iter().map(|event| event.payload.len()).sum();
                guarded.gauges.appended_events_total += events.len() as u64;
                guarded.gauges.appended_bytes_total += bytes as u64;
            }
        }
        self.observer.committed(&changes);
    }
}

impl StreamStore for MemoryStore {
    fn create(&self, create: Create) -> BoxFuture<'_, Result<CreateAck, CreateError>> {
        done(self.change(|table, now| table.create(&create, now)))
    }

    fn append(&self, append: Append) -> BoxFuture<'_, Result<AppendAck, AppendError>> {
        done(self.change(|table, now| table.append(&append, now, &self.limits)))
    }

    fn delete(&self, name: StreamName) -> BoxFuture<'_, Result<(), StreamError>> {
        done(self.change(|table, now| table.delete(&name, now)))
    }

    fn trim(&self, name: StreamName, before: Offset) -> BoxFuture<'_, Result<Offset, StreamError>> {
        done(self.change(|table, now| table.trim(&name, before, now)))
    }

    fn read(&self, read: Read) -> BoxFuture<'_, Result<Page, ReadError>> {
        done(self.look(|table, now| table.read(&read, now)))
    }

    fn describe(&self, name: StreamName) -> BoxFuture<'_, Result<StreamInfo, StreamError>> {
        done(self.look(|table, now| table.describe(&name, now)))
    }

    fn newest(&self, name: &StreamName) -> Lookup<Result<Option<Newest>, StoreError>> {
        Lookup::Ready(Ok(self.look(|table, now| table.newest(name, now))))
    }

    fn list(&self, list: List) -> BoxFuture<'_, Result<Listing, StoreError>> {
        done(Ok(self.look(|table, now| table.list(&list, now))))
    }

    fn renew(&self, stream: StreamId) {
        self.look(|table, now| table.renew(stream, now));
    }

    fn health(&self) -> Health {
        self.lock().health.clone()
    }

    fn gauges(&self) -> StoreGauges {
        let guarded = self.lock();
        StoreGauges { cached_streams: guarded.table.len() as u64, ..guarded.gauges }
    }

    fn shut_down(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.set_health(Health::Unready(UnreadyReason::ShuttingDown));
        done(Ok(()))
    }
}

fn done<'a, T: Send + 'a>(answer: T) -> BoxFuture<'a, T> {
    Box::pin(ready(answer))
}
