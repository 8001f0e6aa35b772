//! An observer that remembers what it was told.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::wait::WAIT_MAX;
use crate::observer::{Change, Health, StoreObserver};

/// Remembers every change in the order in which it was reported.
#[derive(Default)]
pub struct Record {
    changes: Mutex<Vec<Change>>,
    more: Condvar,
}

impl StoreObserver for Record {
    fn committed(&self, changes: &[Change]) {
        self.lock().extend_from_slice(changes);
        self.more.notify_all();
    }

    fn health_changed(&self, _health: &Health) {}
}

impl Record {
    /// All changes so far.
    #[must_use]
    pub fn changes(&self) -> Vec<Change> {
        self.lock().clone()
    }

    /// How many changes there were so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there was no change so far.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The change reported behind the first `position`, once there is one.
    ///
    /// # Panics
    /// If there is none for a minute.
    #[must_use]
    pub fn wait_for(&self, position: usize) -> Change {
        let short = |changes: &mut Vec<Change>| changes.len() <= position;
        let (changes, waited) = self
            .more
            .wait_timeout_while(self.lock(), WAIT_MAX, short)
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "change {position} was not reported");
        changes[position].clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Change>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
