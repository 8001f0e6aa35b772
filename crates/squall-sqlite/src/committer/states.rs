//! Stream states in memory: what is committed, and over it what the batch at hand makes of it.
//!
//! Invariant: outside a batch the two agree. A batch that fails leaves no trace here.
//! Limit: `cached_streams_max` streams, least recently used first to go; a batch may
//! exceed it by the streams it touches.

use bytes::Bytes;
use lru::LruCache;
use squall_stream::machine::StreamState;
use squall_stream::{Expiry, StreamName, UnixMillis};

use crate::committer::writer::Writer;
use crate::shared::Shared;
use crate::trouble::Trouble;

pub(super) struct States {
    slots: LruCache<StreamName, Slot>,
    /// The names that the batch has looked at, each once.
    touched: Vec<StreamName>,
    slots_max: usize,
}

/// What is known of one name.
#[derive(Default)]
pub(super) struct Slot {
    committed: Option<StreamState>,
    /// The state after the changes of the batch so far. Meaningful while `is_touched`.
    pub(super) working: Option<StreamState>,
    is_touched: bool,
    pub(super) changed: Changed,
    /// Where in the batch's changes the stream's last append is.
    pub(super) appended: Option<usize>,
    /// The newest event that the batch added.
    pub(super) newest: Option<Bytes>,
    /// Before this no producer of the stream is idle; saves looking in vain.
    pub(super) no_idle_producer_before: UnixMillis,
}

/// What of a stream's row has to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Changed {
    #[default]
    Nothing,
    /// Its tail, its events and its times.
    Tail,
    /// Any column.
    All,
    /// It was ended; what follows under the name is another stream.
    Ended,
}

impl States {
    pub(super) fn new(slots_max: usize) -> Self {
        Self { slots: LruCache::unbounded(), touched: Vec::new(), slots_max: slots_max.max(1) }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The slot of a name with its working state, from memory or from the database.
    /// A stream that has ended by itself is still there.
    pub(super) fn touch(
        &mut self,
        name: &StreamName,
        writer: &mut Writer<'_>,
        shared: &Shared,
    ) -> Result<&mut Slot, Trouble> {
        if !self.slots.contains(name) {
            let slot = Slot { committed: writer.stream_by_name(name.as_str())?, ..Slot::default() };
            self.slots.put(name.clone(), slot);
        }
        let slot = self.slots.get_or_insert_mut(name.clone(), Slot::default);
        if !slot.is_touched {
            slot.is_touched = true;
            slot.working.clone_from(&slot.committed);
            self.touched.push(name.clone());
        }
        if let Some(state) = &mut slot.working {
            shared.usage.refresh(state);
        }
        Ok(slot)
    }

    /// Writes the rows of the streams that the batch has changed, each once.
    pub(super) fn write_rows(&mut self, writer: &mut Writer<'_>) -> Result<(), Trouble> {
        for name in &self.touched {
            let Some(slot) = self.slots.peek(name) else {
                continue;
            };
            let (Some(state), true) = (&slot.working, slot.changed > Changed::Nothing) else {
                continue;
            };
            let tail_only = slot.changed == Changed::Tail && state.expiry == Expiry::Never;
            writer.update_stream(state, tail_only)?;
        }
        Ok(())
    }

    /// Makes what the batch did the committed state, and tells the caches beside it.
    pub(super) fn merge(&mut self, shared: &Shared) {
        while let Some(name) = self.touched.pop() {
            let Some(slot) = self.slots.peek_mut(&name) else {
                continue;
            };
            if slot.changed > Changed::Nothing {
                let (state, payload) = (slot.working.as_ref(), slot.newest.as_ref());
                shared.newest.committed(&name, state, payload);
                if let Some(state) = state {
                    shared.usage.wrote(state);
                }
            }
            slot.settle(true);
            if slot.committed.is_none() {
                self.slots.pop(&name);
            }
        }
        self.evict();
    }

    /// Forgets what the batch did.
    pub(super) fn discard(&mut self) {
        while let Some(name) = self.touched.pop() {
            if let Some(slot) = self.slots.peek_mut(&name) {
                slot.settle(false);
                if slot.committed.is_none() {
                    self.slots.pop(&name);
                }
            }
        }
        self.evict();
    }

    fn evict(&mut self) {
        while self.slots.len() > self.slots_max {
            self.slots.pop_lru();
        }
    }
}

impl Slot {
    /// The stream that has the name now; none if it has ended by itself.
    pub(super) fn alive(&self, shared: &Shared, now: UnixMillis) -> Option<&StreamState> {
        let is_unborn = self.is_unborn();
        let over = |state: &StreamState| match is_unborn {
            true => state.is_expired(now),
            false => shared.usage.is_over(state, now),
        };
        self.working.as_ref().filter(|state| !over(state))
    }

    /// Notes a use of the stream that is about to be written or confirmed, so that nobody
    /// ends it before. Returns whether it still lives.
    pub(super) fn claim(&self, shared: &Shared, now: UnixMillis) -> bool {
        let is_unborn = self.is_unborn();
        let lives = |state: &StreamState| match is_unborn {
            true => !state.is_expired(now),
            false => shared.usage.claim(state, now),
        };
        self.working.as_ref().is_some_and(lives)
    }

    /// Whether the batch has made the stream. Nobody else knows of it, and nothing may be
    /// remembered of it: if the batch fails, another stream will have its id.
    fn is_unborn(&self) -> bool {
        let id = |state: &Option<StreamState>| state.as_ref().map(|state| state.stream);
        id(&self.working) != id(&self.committed)
    }

    pub(super) fn note(&mut self, changed: Changed) {
        self.changed = self.changed.max(changed);
    }

    fn settle(&mut self, keep: bool) {
        let working = self.working.take();
        if keep {
            self.committed = working;
        }
        *self = Self {
            committed: self.committed.take(),
            no_idle_producer_before: self.no_idle_producer_before,
            ..Self::default()
        };
    }
}
