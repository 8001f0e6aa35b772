//! When streams with an expiry were last used: renewals in memory, ahead of the database.
//!
//! Invariant: a stream that was once found expired stays so, even if the clock jumps
//! back. Invariant: whether a stream is over is decided under one lock, by the latest use
//! that anybody noted; a state read earlier ends nothing that was renewed since.
//! Invariant: a stream last used before the store was opened lives at least one
//! renewal interval from the opening, since its last renewals may not have been written.
//! Limit: about [`ENTRIES_MAX`] streams, beyond it only those that are not written down
//! yet, up to [`CROWD`] times as many.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use squall_stream::machine::StreamState;
use squall_stream::store::StreamId;
use squall_stream::{Expiry, UnixMillis};

/// Streams whose use is remembered although the database knows as well.
const ENTRIES_MAX: usize = 65_536;
/// How many times as many streams are remembered while they wait to be written down.
const CROWD: usize = 8;
/// Streams that may wait to be looked up because only their id is known.
const UNKNOWN_MAX: usize = 65_536;

pub(crate) struct Usage {
    opened_at: UnixMillis,
    inner: Mutex<Inner>,
    /// Something waits in `due`; saves the lock where nothing does.
    pending: AtomicBool,
}

struct Inner {
    entries: HashMap<StreamId, Entry>,
    /// Renewed by id alone, and not in `entries`.
    unknown: HashMap<StreamId, Unknown>,
    /// What the committer has to look at, oldest first: renewed and not written for a
    /// whole interval, found expired, or unknown. Each is there at most once while it is
    /// remembered.
    due: VecDeque<StreamId>,
    entries_max: usize,
    /// How many entries there may be before room is made.
    room_until: usize,
}

struct Entry {
    used_at: UnixMillis,
    written_at: UnixMillis,
    expiry: Expiry,
    due: bool,
    gone: bool,
}

/// Uses of a stream whose expiry is not known. If it lived at the first of them, it was
/// in use until the last.
struct Unknown {
    first: UnixMillis,
    last: UnixMillis,
    due: bool,
}

impl Usage {
    pub(crate) fn new(opened_at: UnixMillis) -> Self {
        Self::with_room(opened_at, ENTRIES_MAX)
    }

    fn with_room(opened_at: UnixMillis, entries_max: usize) -> Self {
        let inner = Inner {
            entries: HashMap::new(),
            unknown: HashMap::new(),
            due: VecDeque::new(),
            entries_max,
            room_until: entries_max,
        };
        Self { opened_at, inner: Mutex::new(inner), pending: AtomicBool::new(false) }
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
        let used_at = self.lock().used_at(state);
        state.renew(used_at);
    }

    /// Whether the stream has ended by itself. `state` must have been brought up to date
    /// ([`Self::refresh`]); what was noted since counts too.
    pub(crate) fn is_over(&self, state: &StreamState, now: UnixMillis) -> bool {
        if state.expiry == Expiry::Never {
            return false;
        }
        let mut inner = self.lock();
        if inner.lives(state, now) {
            return false;
        }
        inner.entry(state).gone = true;
        inner.make_due(state.stream);
        self.announce(&inner);
        true
    }

    /// Notes a use of a stream that is about to be written down, so that nobody ends it
    /// meanwhile. Returns whether the stream lives. If the write comes to nothing, the
    /// renewal stays.
    pub(crate) fn claim(&self, state: &StreamState, now: UnixMillis) -> bool {
        if state.expiry == Expiry::Never {
            return true;
        }
        let mut inner = self.lock();
        let lives = inner.lives(state, now);
        if lives && state.expiry.renewal_interval_ms().is_some() {
            let entry = inner.entry(state);
            entry.used_at = entry.used_at.max(now);
            self.announce(&inner);
        }
        lives
    }

    /// Notes a use of a stream. Returns whether it lives, as far as `state` and memory can
    /// tell: an old state proves that a stream lives, not that it is over.
    pub(crate) fn touch(&self, state: &StreamState, now: UnixMillis) -> bool {
        if state.expiry == Expiry::Never {
            return true;
        }
        let mut inner = self.lock();
        let lives = inner.lives(state, now);
        if lives && state.expiry.renewal_interval_ms().is_some() {
            inner.entry(state);
            inner.renew(state.stream, now);
            self.announce(&inner);
        }
        lives
    }

    /// Notes a use of a stream of which only the id is known.
    pub(crate) fn touch_id(&self, stream: StreamId, now: UnixMillis) {
        let mut inner = self.lock();
        if inner.entries.contains_key(&stream) {
            inner.renew(stream, now);
        } else if let Some(unknown) = inner.unknown.get_mut(&stream) {
            unknown.last = unknown.last.max(now);
        } else if inner.unknown.len() < UNKNOWN_MAX {
            inner.unknown.insert(stream, Unknown { first: now, last: now, due: false });
            inner.make_due(stream);
        }
        self.announce(&inner);
    }

    /// Learns the expiry of a stream that was renewed by its id. Returns whether the
    /// committer has more to do with it.
    pub(crate) fn adopt(&self, state: &StreamState) -> bool {
        let mut inner = self.lock();
        if inner.unknown.contains_key(&state.stream) {
            if state.expiry.renewal_interval_ms().is_none() {
                inner.unknown.remove(&state.stream);
                return inner.entries.contains_key(&state.stream);
            }
            inner.entry(state);
        }
        true
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
        self.announce(&inner);
    }

    /// Forgets a stream that is no more.
    pub(crate) fn forget(&self, stream: StreamId) {
        let mut inner = self.lock();
        inner.entries.remove(&stream);
        inner.unknown.remove(&stream);
    }

    /// Takes up to `max` streams that the committer has to look at: to write down that they
    /// were used, or to end them. They stay remembered.
    pub(crate) fn take_pending(&self, max: usize) -> Vec<StreamId> {
        if !self.pending.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        let mut inner = self.lock();
        let mut streams = Vec::new();
        while streams.len() < max
            && let Some(stream) = inner.due.pop_front()
        {
            if let Some(due) = inner.due_flag(stream)
                && std::mem::take(due)
            {
                streams.push(stream);
            }
        }
        self.announce(&inner);
        streams
    }

    /// Makes every renewal due that the database does not know.
    pub(crate) fn make_all_due(&self) {
        let mut inner = self.lock();
        inner.make_all_due();
        self.announce(&inner);
    }

    /// Gives back what could not be written, for a later try.
    pub(crate) fn put_back(&self, streams: impl IntoIterator<Item = StreamId>) {
        let mut inner = self.lock();
        streams.into_iter().for_each(|stream| inner.make_due(stream));
        self.announce(&inner);
    }

    fn announce(&self, inner: &Inner) {
        if !inner.due.is_empty() {
            self.pending.store(true, Ordering::Release);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn is_unwritten(&self) -> bool {
        self.used_at > self.written_at && !self.gone
    }

    /// Until when the stream lives if the entry is lost.
    fn written_end(&self) -> UnixMillis {
        self.expiry.deadline(self.written_at).unwrap_or(UnixMillis(u64::MAX))
    }
}

impl Inner {
    /// The latest use that anybody knows of.
    fn used_at(&self, state: &StreamState) -> UnixMillis {
        if let Some(entry) = self.entries.get(&state.stream) {
            return state.used_at.max(entry.used_at);
        }
        match self.unknown.get(&state.stream) {
            Some(unknown) if !state.is_expired(unknown.first) => state.used_at.max(unknown.last),
            _ => state.used_at,
        }
    }

    fn lives(&self, state: &StreamState, now: UnixMillis) -> bool {
        let gone = self.entries.get(&state.stream).is_some_and(|entry| entry.gone);
        !gone && !state.expiry.is_over(self.used_at(state), now)
    }

    /// The entry of a stream, made if there is none.
    fn entry(&mut self, state: &StreamState) -> &mut Entry {
        if !self.entries.contains_key(&state.stream) {
            self.make_room();
        }
        let used_at = self.used_at(state);
        let unknown = self.unknown.remove(&state.stream);
        self.entries.entry(state.stream).or_insert_with(|| Entry {
            used_at,
            // The state may have been brought up to date with the unknown use, and then
            // does not say what is written.
            written_at: unknown.as_ref().map_or(state.used_at, |_| UnixMillis(0)),
            expiry: state.expiry,
            due: unknown.is_some_and(|unknown| unknown.due),
            gone: false,
        })
    }

    /// Renews what has not expired, and makes it due where it is to be written down.
    fn renew(&mut self, stream: StreamId, now: UnixMillis) {
        let Some(entry) = self.entries.get_mut(&stream) else {
            return;
        };
        if entry.gone || entry.expiry.is_over(entry.used_at, now) {
            return;
        }
        entry.used_at = entry.used_at.max(now);
        let interval = entry.expiry.renewal_interval_ms().unwrap_or(u64::MAX);
        if entry.used_at.since(entry.written_at) >= interval {
            self.make_due(stream);
        }
    }

    /// Whether a stream waits in `due`, if it is remembered.
    fn due_flag(&mut self, stream: StreamId) -> Option<&mut bool> {
        match self.entries.get_mut(&stream) {
            Some(entry) => Some(&mut entry.due),
            None => self.unknown.get_mut(&stream).map(|unknown| &mut unknown.due),
        }
    }

    fn make_due(&mut self, stream: StreamId) {
        if let Some(due) = self.due_flag(stream)
            && !std::mem::replace(due, true)
        {
            self.due.push_back(stream);
        }
    }

    fn make_all_due(&mut self) {
        let unwritten = self.entries.iter().filter(|(_, entry)| entry.is_unwritten());
        let ids: Vec<_> = unwritten.map(|(id, _)| *id).collect();
        ids.into_iter().for_each(|id| self.make_due(id));
    }

    /// Forgets what the database knows as well, and has the rest written down. Only where
    /// that lags far behind, the streams that live longest without their renewals lose them.
    fn make_room(&mut self) {
        if self.entries.len() < self.room_until {
            return;
        }
        self.entries.retain(|_, entry| entry.is_unwritten() || entry.gone);
        if self.entries.len() >= self.entries_max {
            self.make_all_due();
        }
        let crowd = self.entries_max * CROWD;
        if self.entries.len() >= crowd {
            let mut ends: Vec<_> = self.entries.values().map(Entry::written_end).collect();
            ends.sort_unstable();
            let middle = ends.get(ends.len() / 2).copied().unwrap_or_default();
            self.entries.retain(|_, entry| entry.written_end() < middle);
            tracing::warn!(crowd, "too many streams in use: renewals were lost");
        }
        // Looking through all of them has to pay off.
        let step = (self.entries_max / 8).max(1);
        self.room_until = self.entries_max.max(self.entries.len() + step).min(crowd);
        let Self { entries, unknown, due, .. } = self;
        due.retain(|stream| entries.contains_key(stream) || unknown.contains_key(stream));
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
        assert_eq!(usage.take_pending(9), [StreamId(7)]);
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
        assert_eq!(usage.take_pending(9), [StreamId(7)]);
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
        usage.touch_id(StreamId(7), UnixMillis(2_500));
        usage.touch_id(StreamId(7), UnixMillis(4_000));
        assert_eq!(usage.take_pending(9), [StreamId(7)]);
        usage.put_back([StreamId(7)]);
        assert_eq!(usage.take_pending(9), [StreamId(7)]);
        let stream = state(2, 1_000);
        assert!(!is_over(&usage, &stream, 5_999), "used from the first instant to the last");
        assert!(usage.adopt(&stream));
        assert!(!is_over(&usage, &stream, 5_999));
        assert!(is_over(&usage, &stream, 6_000));
    }

    #[test]
    fn an_unknown_stream_that_had_ended_is_not_revived() {
        let usage = Usage::new(UnixMillis(0));
        usage.touch_id(StreamId(7), UnixMillis(3_000));
        assert!(usage.adopt(&state(2, 1_000)));
        assert!(is_over(&usage, &state(2, 1_000), 3_000));
    }

    #[test]
    fn an_old_state_ends_nothing_that_was_claimed_since() {
        let usage = Usage::new(UnixMillis(0));
        let old = state(2, 1_000);
        assert!(usage.claim(&old, UnixMillis(2_999)));
        assert!(!usage.is_over(&old, UnixMillis(3_000)));
        assert!(usage.is_over(&old, UnixMillis(4_999)));
        assert!(!usage.claim(&old, UnixMillis(4_998)), "over is over");
    }

    #[test]
    fn what_may_be_over_is_not_ended_by_a_touch() {
        let usage = Usage::new(UnixMillis(0));
        assert!(!usage.touch(&state(2, 1_000), UnixMillis(3_000)), "as far as the state knows");
        assert!(!usage.is_over(&state(2, 2_000), UnixMillis(3_000)));
    }

    fn numbered(id: u64, used_at: u64) -> StreamState {
        StreamState { stream: StreamId(id), ..state(8, used_at) }
    }

    #[test]
    fn renewals_are_kept_until_they_are_written_and_come_first_in_first_out() {
        let usage = Usage::with_room(UnixMillis(0), 10);
        for id in 0..40 {
            usage.touch(&numbered(id, 1_000), UnixMillis(1_001 + id));
        }
        let first = usage.take_pending(3);
        let rest = usage.take_pending(100);
        assert_eq!(first.len(), 3);
        assert!(first.iter().chain(&rest).count() >= 30, "made due for want of room");
        for id in 0..40 {
            assert!(!is_over(&usage, &numbered(id, 1_000), 9_000 + id), "{id}");
        }
        usage.put_back(first.clone());
        usage.put_back(rest);
        assert_eq!(usage.take_pending(3), first);
        for id in 0..40 {
            usage.wrote(&numbered(id, 1_001 + id));
        }
        for id in 40..60 {
            usage.wrote(&numbered(id, 1_000));
        }
        assert!(usage.lock().entries.len() <= 20);
    }

    #[test]
    fn memory_is_bounded_even_if_nothing_can_be_written() {
        let usage = Usage::with_room(UnixMillis(0), 10);
        for id in 0..1_000 {
            usage.touch(&numbered(id, 1_000 + id), UnixMillis(3_000 + id));
        }
        let inner = usage.lock();
        assert!(inner.entries.len() <= 80);
        assert!(inner.due.len() <= 80);
    }
}
