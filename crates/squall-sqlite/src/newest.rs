//! The newest event of recently asked streams, in memory.
//!
//! A stream enters when somebody asks for its newest event; from then on each commit
//! brings its entry up to date before the change is acknowledged, until it is evicted.
//! Invariant: an entry never shows what was undone by an acknowledged change. A load
//! that raced with a commit is dropped: its ticket no longer fits.
//! Payloads are copied, so that a small event does not pin its request's buffer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use lru::LruCache;
use squall_stream::machine::StreamState;
use squall_stream::request::Newest;
use squall_stream::{StreamName, UnixMillis};

use crate::usage::Usage;

/// What an entry counts for beside its name and payload.
const ENTRY_BYTES: usize = 256;

pub(crate) struct NewestCache {
    bytes_max: usize,
    inner: Mutex<Inner>,
}

struct Inner {
    entries: LruCache<StreamName, Entry>,
    bytes: usize,
    tickets: u64,
}

enum Entry {
    /// Somebody reads it from the database; the ticket says who may fill it in.
    Loading(LoadTicket),
    Known(Known),
}

/// The right to fill in one entry, lost when a commit touches the stream meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoadTicket(u64);

/// What is known of a name: its stream, if there is one, and the newest event in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Kept only where the stream may end by itself.
    pub(crate) expiring: Option<Box<StreamState>>,
    pub(crate) newest: Option<Newest>,
}

/// An answer from memory, or the right to load it.
pub(crate) enum Found {
    Known(Option<Newest>),
    Load(LoadTicket),
}

impl Known {
    pub(crate) fn new(state: &StreamState, newest: Option<Newest>) -> Self {
        let expires = state.expiry != squall_stream::Expiry::Never;
        Self { expiring: expires.then(|| Box::new(state.clone())), newest }
    }

    fn bytes(&self) -> usize {
        self.newest.as_ref().map_or(0, |newest| newest.payload.len())
    }
}

impl NewestCache {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            inner: Mutex::new(Inner { entries: LruCache::unbounded(), bytes: 0, tickets: 0 }),
        }
    }

    /// Looks a name up. A hit renews a sliding expiry; `now` is asked only if there is one.
    pub(crate) fn find(
        &self,
        name: &StreamName,
        usage: &Usage,
        now: impl FnOnce() -> UnixMillis,
    ) -> Found {
        let mut inner = self.lock();
        match inner.entries.get(name) {
            Some(Entry::Loading(ticket)) => return Found::Load(*ticket),
            Some(Entry::Known(known)) if known.is_alive(usage, now) => {
                return Found::Known(known.newest.clone());
            }
            Some(Entry::Known(_)) | None => {}
        }
        inner.tickets += 1;
        let ticket = LoadTicket(inner.tickets);
        inner.put(name.clone(), Entry::Loading(ticket), self.bytes_max);
        Found::Load(ticket)
    }

    /// Fills in what a reader found, unless a commit was quicker.
    pub(crate) fn fill(&self, name: &StreamName, ticket: LoadTicket, known: Known) {
        let mut inner = self.lock();
        if inner.is_loading(name, ticket) {
            inner.put(name.clone(), Entry::Known(known), self.bytes_max);
        }
    }

    /// Gives up a load that came to nothing.
    pub(crate) fn abandon(&self, name: &StreamName, ticket: LoadTicket) {
        let mut inner = self.lock();
        if inner.is_loading(name, ticket) {
            inner.remove(name);
        }
    }

    /// Notes what a commit did to the stream of this name. `payload` is the newest event
    /// if the commit added one. Streams that nobody asked for are passed over.
    pub(crate) fn committed(
        &self,
        name: &StreamName,
        state: Option<&StreamState>,
        payload: Option<&Bytes>,
    ) {
        let mut inner = self.lock();
        if !inner.entries.contains(name) {
            return;
        }
        let Some(state) = state else {
            inner.put(name.clone(), Entry::Known(Known::default()), self.bytes_max);
            return;
        };
        let newest = payload.map(|payload| Newest {
            content_type: state.content_type.clone(),
            payload: Bytes::copy_from_slice(payload),
        });
        match newest {
            Some(newest) => {
                let known = Known::new(state, Some(newest));
                inner.put(name.clone(), Entry::Known(known), self.bytes_max);
            }
            None if state.events == 0 => {
                let known = Known::new(state, None);
                inner.put(name.clone(), Entry::Known(known), self.bytes_max);
            }
            // Closed or trimmed in front of its newest event, which stands. What is being
            // loaded may stem from before a stream of the same name, so it goes.
            None => inner.drop_loading(name),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes as u64
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Whether the stream certainly lives, and then notes its use. The state held here may
    /// be old, so it ends nothing: what may be over is looked up again.
    fn is_alive(&self, usage: &Usage, now: impl FnOnce() -> UnixMillis) -> bool {
        let Some(state) = &self.expiring else {
            return true;
        };
        let now = now();
        let mut fresh = state.as_ref().clone();
        usage.refresh(&mut fresh);
        usage.touch(&fresh, now)
    }
}

impl Inner {
    fn is_loading(&self, name: &StreamName, ticket: LoadTicket) -> bool {
        matches!(self.entries.peek(name), Some(Entry::Loading(held)) if *held == ticket)
    }

    fn drop_loading(&mut self, name: &StreamName) {
        if matches!(self.entries.peek(name), Some(Entry::Loading(_))) {
            self.remove(name);
        }
    }

    fn put(&mut self, name: StreamName, entry: Entry, bytes_max: usize) {
        self.remove(&name);
        let bytes = cost(&name, &entry);
        if bytes > bytes_max / 4 {
            return;
        }
        self.bytes += bytes;
        self.entries.put(name, entry);
        while self.bytes > bytes_max {
            let Some((name, entry)) = self.entries.pop_lru() else {
                return;
            };
            self.bytes -= cost(&name, &entry);
        }
    }

    fn remove(&mut self, name: &StreamName) {
        if let Some((name, entry)) = self.entries.pop_entry(name) {
            self.bytes -= cost(&name, &entry);
        }
    }
}

fn cost(name: &StreamName, entry: &Entry) -> usize {
    let payload = match entry {
        Entry::Loading(_) => 0,
        Entry::Known(known) => known.bytes(),
    };
    ENTRY_BYTES + name.as_str().len() + payload
}

#[cfg(test)]
mod tests {
    use super::*;
    use squall_stream::store::StreamId;
    use squall_stream::{ContentType, Expiry};

    fn name(text: &str) -> StreamName {
        StreamName::parse(text).unwrap()
    }

    fn state(events: u64) -> StreamState {
        let text = ContentType::text_plain();
        let mut state = StreamState::new(StreamId(1), text, Expiry::Never, UnixMillis(0));
        state.events = events;
        state
    }

    fn find(cache: &NewestCache, text: &str) -> Result<Option<Bytes>, LoadTicket> {
        let usage = Usage::new(UnixMillis(0));
        match cache.find(&name(text), &usage, || UnixMillis(0)) {
            Found::Known(newest) => Ok(newest.map(|newest| newest.payload)),
            Found::Load(ticket) => Err(ticket),
        }
    }

    fn known(payload: &'static [u8]) -> Known {
        let payload = Bytes::from_static(payload);
        let content_type = ContentType::text_plain();
        Known::new(&state(1), Some(Newest { content_type, payload }))
    }

    #[test]
    fn a_commit_beats_a_load_that_began_before_it() {
        let cache = NewestCache::new(10_000);
        let ticket = find(&cache, "s").unwrap_err();
        let newer = Bytes::from_static(b"new");
        cache.committed(&name("s"), Some(&state(2)), Some(&newer));
        cache.fill(&name("s"), ticket, known(b"old"));
        assert_eq!(find(&cache, "s"), Ok(Some(newer)));
    }

    #[test]
    fn a_deleted_stream_is_known_to_be_gone() {
        let cache = NewestCache::new(10_000);
        let ticket = find(&cache, "s").unwrap_err();
        cache.committed(&name("s"), None, None);
        cache.fill(&name("s"), ticket, known(b"old"));
        assert_eq!(find(&cache, "s"), Ok(None));
        cache.committed(&name("t"), Some(&state(1)), Some(&Bytes::from_static(b"x")));
        assert!(find(&cache, "t").is_err(), "nobody had asked for it");
    }

    #[test]
    fn memory_is_bounded_and_large_events_stay_out() {
        let cache = NewestCache::new(3_000);
        for at in 0..40 {
            let text = format!("s{at}");
            let ticket = find(&cache, &text).unwrap_err();
            cache.fill(&name(&text), ticket, known(b"x"));
        }
        assert!(cache.bytes() <= 3_000);
        let ticket = find(&cache, "large").unwrap_err();
        let large = Box::leak(vec![0; 2_000].into_boxed_slice());
        cache.fill(&name("large"), ticket, known(large));
        assert!(find(&cache, "large").is_err());
    }
}
