//! The hub: which streams are followed, by how many, and what was just committed to them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use slab::Slab;
use squall_stream::observer::Change;
use squall_stream::store::StreamId;
use squall_stream::{Offset, StreamName, StreamStore};

use crate::follow::cell::FollowerCell;
use crate::follow::pump::Pump;
use crate::follow::ring::Ring;
use crate::follow::wheel::{SLOT, Seat, Wheel};

/// Limits of the fan-out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HubConfig {
    /// Bytes that the ring of one stream may hold.
    pub(crate) ring_bytes_max: usize,
    /// Bytes that all rings may hold together.
    pub(crate) ring_bytes_total_max: usize,
    /// Follows and long-polls at the same time.
    pub(crate) followers_max: usize,
    /// Time between two heartbeats of a follower.
    pub(crate) heartbeat: Duration,
    /// Time after which a follower is asked to reconnect; none for never.
    pub(crate) age_max: Option<Duration>,
}

/// A ring that its followers, the engine and the pump share.
#[derive(Debug)]
pub(crate) struct SharedRing {
    stream: StreamId,
    ring: Mutex<Ring>,
    marked: AtomicBool,
}

impl SharedRing {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether it was marked before.
    pub(crate) fn mark(&self) -> bool {
        self.marked.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn unmark(&self) {
        self.marked.store(false, Ordering::Release);
    }
}

/// All followers and rings of a server.
#[derive(Debug)]
pub(crate) struct Hub {
    config: HubConfig,
    rings: RwLock<HashMap<StreamId, Arc<SharedRing>>>,
    ring_bytes: AtomicUsize,
    /// Followers of names that have no stream yet.
    awaiting: Mutex<HashMap<StreamName, Slab<Arc<FollowerCell>>>>,
    followers: AtomicUsize,
    leaving: AtomicBool,
    wheel: Wheel,
    pump: Arc<Pump>,
    start: Instant,
}

impl Hub {
    pub(crate) fn new(config: HubConfig) -> Self {
        Self {
            config,
            rings: RwLock::default(),
            ring_bytes: AtomicUsize::new(0),
            awaiting: Mutex::default(),
            followers: AtomicUsize::new(0),
            leaving: AtomicBool::new(false),
            wheel: Wheel::new(config.heartbeat),
            pump: Arc::default(),
            start: Instant::now(),
        }
    }

    /// Serves heartbeats, ages and commits until the runtime ends.
    pub(crate) async fn run(self: Arc<Self>, store: Arc<dyn StreamStore>) {
        tokio::join!(Arc::clone(&self.pump).run(), self.beat(&*store));
    }

    async fn beat(&self, store: &dyn StreamStore) {
        let mut ticks = tokio::time::interval(SLOT);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let second = 10;
        for tick in 0_usize.. {
            ticks.tick().await;
            self.wheel.beat(tick % self.wheel.slots());
            if tick.is_multiple_of(second) {
                self.each_second(store);
            }
        }
    }

    fn each_second(&self, store: &dyn StreamStore) {
        let rings = self.rings.read().unwrap_or_else(PoisonError::into_inner);
        rings.keys().for_each(|stream| store.renew(*stream));
        drop(rings);
        if self.config.age_max.is_some() {
            let now_ms = self.now_ms();
            self.wheel.for_each(|cell| cell.leave_if_older(now_ms));
        }
    }

    /// Files committed changes and has the followers concerned woken. Called by the engine.
    pub(crate) fn committed(&self, changes: &[Change]) {
        let mut news = false;
        for change in changes {
            news |= match change {
                Change::Appended { stream, events, tail, closed } => self
                    .with_ring(*stream, |ring| {
                        ring.push(events, *tail, *closed, self.config.ring_bytes_max)
                    }),
                Change::Ended { stream } => self.end_ring(*stream),
                Change::Created { name, .. } => self.wake_awaiting(name),
                Change::Trimmed { .. } => false,
            };
        }
        if news {
            self.pump.signal();
        }
    }

    fn with_ring(&self, stream: StreamId, change: impl FnOnce(&mut Ring)) -> bool {
        let shared = {
            let rings = self.rings.read().unwrap_or_else(PoisonError::into_inner);
            let Some(shared) = rings.get(&stream) else {
                return false;
            };
            Arc::clone(shared)
        };
        self.account(&shared, change);
        self.pump.mark(shared);
        true
    }

    /// Changes a ring and keeps the sum of all rings within its limit.
    fn account(&self, shared: &SharedRing, change: impl FnOnce(&mut Ring)) {
        let mut ring = shared.lock();
        if ring.is_unfollowed() {
            return; // It has left the map, and its bytes the sum.
        }
        let before = ring.bytes();
        change(&mut ring);
        let others = self.ring_bytes.load(Ordering::Relaxed).saturating_sub(before);
        while others + ring.bytes() > self.config.ring_bytes_total_max && ring.drop_oldest() {}
        self.ring_bytes.fetch_add(ring.bytes(), Ordering::Relaxed);
        self.ring_bytes.fetch_sub(before, Ordering::Relaxed);
    }

    fn end_ring(&self, stream: StreamId) -> bool {
        let found = self.with_ring(stream, Ring::end);
        self.rings.write().unwrap_or_else(PoisonError::into_inner).remove(&stream);
        found
    }

    fn wake_awaiting(&self, name: &StreamName) -> bool {
        let awaiting = self.awaiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cells) = awaiting.get(name) {
            cells.iter().for_each(|(_, cell)| cell.named());
        }
        false
    }

    /// A place for one more follower; none if there are as many as there may be.
    pub(crate) fn admit(self: &Arc<Self>) -> Option<FollowerPermit> {
        let before = self.followers.fetch_add(1, Ordering::AcqRel);
        let permit = FollowerPermit { hub: Arc::clone(self) };
        (before < self.config.followers_max).then_some(permit)
    }

    /// Asks every follower and waiter to end its answer, now and from now on.
    pub(crate) fn ask_all_to_leave(&self) {
        self.leaving.store(true, Ordering::Release);
        self.wheel.for_each(FollowerCell::leave);
    }

    pub(crate) fn followers(&self) -> usize {
        self.followers.load(Ordering::Relaxed)
    }

    pub(crate) fn ring_bytes(&self) -> usize {
        self.ring_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn rings(&self) -> usize {
        self.rings.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn join(&self, stream: StreamId, cell: &Arc<FollowerCell>) -> (Arc<SharedRing>, usize) {
        let mut rings = self.rings.write().unwrap_or_else(PoisonError::into_inner);
        let shared = rings.entry(stream).or_insert_with(|| {
            let ring = Mutex::default();
            Arc::new(SharedRing { stream, ring, marked: AtomicBool::new(false) })
        });
        let member = shared.lock().join(Arc::clone(cell));
        (Arc::clone(shared), member)
    }

    fn part(&self, shared: &Arc<SharedRing>, member: usize) {
        let mut rings = self.rings.write().unwrap_or_else(PoisonError::into_inner);
        let mut ring = shared.lock();
        ring.leave(member);
        // An ended ring has left the map, where a later one may stand in its place.
        let current = rings.get(&shared.stream).is_some_and(|found| Arc::ptr_eq(found, shared));
        if ring.is_unfollowed() && current {
            rings.remove(&shared.stream);
            self.ring_bytes.fetch_sub(ring.bytes(), Ordering::Relaxed);
        }
    }
}

/// One of the places for followers, given back when dropped.
#[derive(Debug)]
pub(crate) struct FollowerPermit {
    hub: Arc<Hub>,
}

impl Drop for FollowerPermit {
    fn drop(&mut self) {
        self.hub.followers.fetch_sub(1, Ordering::AcqRel);
    }
}

/// One follower's ties to the hub, cut when dropped.
#[derive(Debug)]
pub(crate) struct Membership {
    hub: Arc<Hub>,
    cell: Arc<FollowerCell>,
    seat: Seat,
    ring: Option<(Arc<SharedRing>, usize)>,
    awaited: Option<(StreamName, usize)>,
    _permit: FollowerPermit,
}

impl Membership {
    pub(crate) fn new(permit: FollowerPermit) -> Self {
        let hub = Arc::clone(&permit.hub);
        let cell = Arc::new(FollowerCell::default());
        if let Some(age_max) = hub.config.age_max {
            cell.set_leave_at_ms(hub.now_ms() + jittered_ms(age_max));
        }
        let seat = hub.wheel.seat(Arc::clone(&cell));
        // Asked after taking the seat, so that no shutdown passes unnoticed.
        if hub.leaving.load(Ordering::Acquire) {
            cell.leave();
        }
        Self { hub, cell, seat, ring: None, awaited: None, _permit: permit }
    }

    pub(crate) fn cell(&self) -> &FollowerCell {
        &self.cell
    }

    /// Joins the ring of `stream`.
    pub(crate) fn join(&mut self, stream: StreamId) {
        self.part();
        self.ring = Some(self.hub.join(stream, &self.cell));
    }

    /// Asks to be woken when a stream of this name is made.
    pub(crate) fn await_name(&mut self, name: &StreamName) {
        self.part();
        let mut awaiting = self.hub.awaiting.lock().unwrap_or_else(PoisonError::into_inner);
        let key = awaiting.entry(name.clone()).or_default().insert(Arc::clone(&self.cell));
        self.awaited = Some((name.clone(), key));
    }

    /// Asks the ring that was joined, if one was.
    pub(crate) fn ask<T>(&self, question: impl FnOnce(&mut Ring, usize) -> T) -> Option<T> {
        let (shared, member) = self.ring.as_ref()?;
        Some(question(&mut shared.lock(), *member))
    }

    /// Tells the ring the tail that a read found after it was joined.
    pub(crate) fn observe_tail(&self, tail: Offset) {
        if let Some((shared, _)) = &self.ring {
            shared.lock().observe_tail(tail);
        }
    }

    fn part(&mut self) {
        if let Some((shared, member)) = self.ring.take() {
            self.hub.part(&shared, member);
        }
        if let Some((name, key)) = self.awaited.take() {
            let mut awaiting = self.hub.awaiting.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(cells) = awaiting.get_mut(&name) {
                cells.try_remove(key);
                if cells.is_empty() {
                    awaiting.remove(&name);
                }
            }
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.part();
        self.hub.wheel.unseat(self.seat);
    }
}

/// `age` and up to a tenth of it less, so that followers do not all reconnect at once.
fn jittered_ms(age: Duration) -> u64 {
    use rand::RngExt;
    let millis = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
    millis - rand::rng().random_range(0..=millis / 10)
}
