//! The wheel: one timer for all heartbeats, followers spread over 100 ms slots.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::RngExt;
use slab::Slab;

use crate::follow::cell::FollowerCell;

/// How far apart two slots are.
pub(crate) const SLOT: Duration = Duration::from_millis(100);

/// A follower's place on the wheel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    slot: usize,
    key: usize,
}

/// Followers by the time of their next heartbeat.
#[derive(Debug)]
pub(crate) struct Wheel {
    slots: Vec<Mutex<Slab<Arc<FollowerCell>>>>,
}

impl Wheel {
    /// A wheel that turns once in `period`, rounded up to whole slots.
    pub(crate) fn new(period: Duration) -> Self {
        let slots = period.as_millis().div_ceil(SLOT.as_millis()).max(1);
        let slots = usize::try_from(slots).unwrap_or(usize::MAX).min(36_000);
        Self { slots: (0..slots).map(|_| Mutex::default()).collect() }
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn seat(&self, cell: Arc<FollowerCell>) -> Seat {
        let slot = rand::rng().random_range(0..self.slots.len());
        let key = self.lock(slot).insert(cell);
        Seat { slot, key }
    }

    pub(crate) fn unseat(&self, seat: Seat) {
        self.lock(seat.slot).try_remove(seat.key);
    }

    pub(crate) fn beat(&self, slot: usize) {
        self.lock(slot).iter().for_each(|(_, cell)| cell.heartbeat_due());
    }

    pub(crate) fn for_each(&self, mut each: impl FnMut(&FollowerCell)) {
        for slot in 0..self.slots.len() {
            self.lock(slot).iter().for_each(|(_, cell)| each(cell));
        }
    }

    fn lock(&self, slot: usize) -> std::sync::MutexGuard<'_, Slab<Arc<FollowerCell>>> {
        self.slots[slot % self.slots.len()].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
