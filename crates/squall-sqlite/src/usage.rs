//! When streams with an expiry were last used: renewals in memory, ahead of the database.
//!
//! Invariant: a stream that was once found expired stays so, even if the clock jumps
//! back. Invariant: a stream last used before the store was opened lives at least one
//! renewal interval from the opening, since its last renewals may not have been written.
//! Limit: [`ENTRIES_MAX`] streams; those written down already are forgotten first.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use squall_stream::machine::StreamState;
use squall_stream::store::StreamId;
use squall_stream::{Expiry, UnixMillis};

/// Streams whose use is remembered at most.
const ENTRIES_MAX: usize = 65_536;
/// Streams that may wait to be looked up because only their id is known.
const UNKNOWN_MAX: usize = 65_536;

pub(crate) struct Usage {
    opened_at: UnixMillis,
    inner: Mutex<Inner>,
    /// Something waits in `due` or `unknown`; saves the lock where nothing does.
    pending: AtomicBool,
}

#[derive(Default)]
struct Inner {
    entries: HashMap<StreamId, Entry>,
    /// Renewed and not written for a whole interval, or found expired. Each is in
    /// `entries` and there at most once, which bounds it.
    due: Vec<StreamId>,
    /// Renewed by id alone, and not in `entries`.
    unknown: HashMap<StreamId, UnixMillis>,
}

struct Entry {
    used_at: UnixMillis,
    written_at: UnixMillis,
    expiry: Expiry,
    due: bool,
    gone: bool,
}

/// Streams that the committer has to look at: to write down that they were used, or to end
/// them. Where an instant stands, it is of a use that is not in memory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) streams: Vec<(StreamId, Option<UnixMillis>)>,
}

impl Pending {
    pub(crate) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }
}

impl Usage {
    pub(crate) fn new(opened_at: UnixMillis) -> Self {
        Self { opened_at, inner: Mutex::default(), pending: AtomicBool::new(false) }
    }

    /// Brings `state` up to date with the renewals in memory.
    pub(crate) fn refresh(&self, state: &mut StreamState) {
        let Expiry::Ttl(seconds) = state.expiry else {
            return;
        };
        // Without a window nobody can have used the stream since.
        if seconds > 0 && state.used_at < self.opened_at {
            let interval = state.expiry.renewal_interval_ms().unwrap_or_default();
            let least = self.opened_at.plus(interval).0;
            state.renew(UnixMillis(least.saturating_sub(seconds.saturating_mul(1_000))));
        }
        let inner = self.lock();
        if let Some(entry) = inner.entries.get(&state.stream) {
            state.renew(entry.used_at);
        } else if let Some(used_at) = inner.unknown.get(&state.stream)
            && !state.is_expired(*used_at)
        {
            state.renew(*used_at);
        }
    }

    /// Whether the stream has ended by itself. `state` must be fresh ([`Self::refresh`]).
    pub(crate) fn is_over(&self, state: &StreamState, now: UnixMillis) -> bool {
        if state.expiry == Expiry::Never {
            return false;
        }
        let over = state.is_expired(now);
        let mut inner = self.lock();
        if let Some(entry) = inner.entries.get(&state.stream) {
            if entry.gone || !over {
                return entry.gone;
            }
        } else if !over {
            return false;
        }
        inner.entry(state).gone = true;
        inner.make_due(state.stream);
        self.pending.store(true, Ordering::Release);
        true
    }

    /// Notes a use of a stream that is not over.
    pub(crate) fn touch(&self, state: &StreamState, now: UnixMillis) {
        if state.expiry.renewal_interval_ms().is_none() {
            return;
        }
        let mut inner = self.lock();
        inner.entry(state);
        if inner.renew(state.stream, now) {
            self.pending.store(true, Ordering::Release);
        }
    }

    /// Notes a use of a stream of which only the id is known.
    pub(crate) fn touch_id(&self, stream: StreamId, now: UnixMillis) {
        let mut inner = self.lock();
        if inner.entries.contains_key(&stream) {
            if inner.renew(stream, now) {
                self.pending.store(true, Ordering::Release);
            }
        } else if inner.unknown.len() < UNKNOWN_MAX {
            inner.unknown.insert(stream, now);
            self.pending.store(true, Ordering::Release);
        }
    }

    /// Notes that the state of a stream is in the database as it is here.
    pub(crate) fn wrote(&self, state: &StreamState) {
        if state.expiry.renewal_interval_ms().is_none() {
            return;
        }
        let mut inner = self.lock();
        let entry = inner.entry(state);
        entry.written_at = entry.written_at.max(state.used_at);
        entry.used_at = entry.used_at.max(state.used_at);
    }

    /// Forgets a stream that is no more.
    pub(crate) fn forget(&self, stream: StreamId) {
        let mut inner = self.lock();
        let due = inner.entries.remove(&stream).is_some_and(|entry| entry.due);
        if due {
            inner.due.retain(|id| *id != stream);
        }
    }

    /// Takes up to `max` streams that the committer has to look at.
    pub(crate) fn take_pending(&self, max: usize) -> Pending {
        if !self.pending.swap(false, Ordering::AcqRel) {
            return Pending::default();
        }
        let mut guard = self.lock();
        let inner = &mut *guard;
        let rest = inner.due.len().saturating_sub(max);
        let mut streams: Vec<_> = inner.due.drain(rest..).map(|id| (id, None)).collect();
        for (stream, _) in &streams {
            if let Some(entry) = inner.entries.get_mut(stream) {
                entry.due = false;
            }
        }
        let room = max - streams.len();
        let unknown: Vec<_> = inner.unknown.iter().take(room).map(|(id, at)| (*id, *at)).collect();
        for (stream, used_at) in unknown {
            inner.unknown.remove(&stream);
            streams.push((stream, Some(used_at)));
        }
        if !inner.due.is_empty() || !inner.unknown.is_empty() {
            self.pending.store(true, Ordering::Release);
        }
        Pending { streams }
    }

    /// Makes every renewal due that the database does not know.
    pub(crate) fn make_all_due(&self) {
        let mut inner = self.lock();
        let unwritten = |entry: &Entry| entry.used_at > entry.written_at && !entry.gone;
        let entries = inner.entries.iter();
        let ids = entries.filter(|(_, entry)| unwritten(entry));
        let ids: Vec<_> = ids.map(|(id, _)| *id).collect();
        ids.into_iter().for_each(|id| inner.make_due(id));
        self.pending.store(true, Ordering::Release);
    }

    /// Gives back what could not be written, for a later try.
    pub(crate) fn put_back(&self, pending: &Pending) {
        let mut inner = self.lock();
        for (stream, used_at) in &pending.streams {
            match used_at {
                Some(used_at) => drop(inner.unknown.insert(*stream, *used_at)),
                None => inner.make_due(*stream),
            }
        }
        self.pending.store(true, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The entry of a stream, made if there is none.
    fn entry(&mut self, state: &StreamState) -> &mut Entry {
        if !self.entries.contains_key(&state.stream) {
            self.make_room();
        }
        self.entries.entry(state.stream).or_insert_with(|| Entry {
            used_at: state.used_at,
            written_at: state.used_at,
            expiry: state.expiry,
            due: false,
            gone: false,
        })
    }

    /// Renews what has not expired. Returns whether that is to be written down.
    fn renew(&mut self, stream: StreamId, now: UnixMillis) -> bool {
        let Some(entry) = self.entries.get_mut(&stream) else {
            return false;
        };
        if entry.gone || entry.expiry.is_over(entry.used_at, now) {
            return false;
        }
        entry.used_at = entry.used_at.max(now);
        let interval = entry.expiry.renewal_interval_ms().unwrap_or(u64::MAX);
        if entry.due || entry.used_at.since(entry.written_at) < interval {
            return false;
        }
        self.make_due(stream);
        true
    }

    fn make_due(&mut self, stream: StreamId) {
        if let Some(entry) = self.entries.get_mut(&stream)
            && !entry.due
        {
            entry.due = true;
            self.due.push(stream);
        }
    }

    /// Forgets what the database knows as well. If that is not enough, the oldest
    /// renewals are lost: memory is bounded, and such streams live to their written end.
    fn make_room(&mut self) {
        if self.entries.len() < ENTRIES_MAX {
            return;
        }
        self.entries.retain(|_, entry| entry.used_at > entry.written_at && !entry.gone);
        if self.entries.len() >= ENTRIES_MAX {
            let mut used: Vec<_> = self.entries.values().map(|entry| entry.used_at).collect();
            used.sort_unstable();
            let middle = used.get(used.len() / 2).copied().unwrap_or_default();
            self.entries.retain(|_, entry| entry.used_at > middle);
        }
        let entries = &self.entries;
        self.due.retain(|stream| entries.contains_key(stream));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use squall_stream::ContentType;

    fn state(ttl: u64, used_at: u64) -> StreamState {
        let text = ContentType::text_plain();
        StreamState::new(StreamId(7), text, Expiry::Ttl(ttl), UnixMillis(used_at))
    }

    fn is_over(usage: &Usage, state: &StreamState, now: u64) -> bool {
        let mut fresh = state.clone();
        usage.refresh(&mut fresh);
        usage.is_over(&fresh, UnixMillis(now))
    }

    #[test]
    fn a_use_in_memory_renews_and_is_written_once_per_interval() {
        let usage = Usage::new(UnixMillis(0));
        let stream = state(8, 1_000);
        usage.touch(&stream, UnixMillis(2_000));
        assert!(usage.take_pending(9).is_empty(), "not due yet");
        usage.touch(&stream, UnixMillis(3_000));
        usage.touch(&stream, UnixMillis(3_000));
        assert_eq!(usage.take_pending(9).streams, [(StreamId(7), None)]);
        usage.wrote(&state(8, 3_000));
        assert!(!is_over(&usage, &stream, 10_999));
        assert!(is_over(&usage, &stream, 11_000));
    }

    #[test]
    fn what_was_found_expired_stays_so_when_the_clock_jumps_back() {
        let usage = Usage::new(UnixMillis(0));
        let stream = state(2, 1_000);
        assert!(!is_over(&usage, &stream, 2_999));
        assert!(is_over(&usage, &stream, 3_000));
        assert!(is_over(&usage, &stream, 1_000));
        assert_eq!(usage.take_pending(9).streams, [(StreamId(7), None)]);
        usage.forget(StreamId(7));
        assert!(usage.take_pending(9).is_empty());
    }

    #[test]
    fn a_stream_lives_one_interval_after_the_opening() {
        let usage = Usage::new(UnixMillis(100_000));
        let stream = state(8, 1_000);
        assert!(!is_over(&usage, &stream, 101_999));
        assert!(is_over(&usage, &stream, 102_000));
        assert!(is_over(&usage, &state(0, 1_000), 100_000), "it never lived");
    }

    #[test]
    fn a_renewal_by_id_of_an_unknown_stream_is_looked_up() {
        let usage = Usage::new(UnixMillis(0));
        usage.touch_id(StreamId(9), UnixMillis(5));
        let pending = usage.take_pending(9);
        assert_eq!(pending.streams, [(StreamId(9), Some(UnixMillis(5)))]);
        usage.put_back(&pending);
        assert_eq!(usage.take_pending(9), pending);
    }
}
