//! The ring: the most recent committed events of one followed stream.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::BytesMut;
use slab::Slab;
use squall_stream::{Event, Offset};

use crate::follow::cell::FollowerCell;
use crate::follow::chunk::{Chunk, ChunkBuilder};
use crate::follow::frame::{Border, View, frame};

/// Payload bytes that one frame takes, unless a single event is larger.
///
/// A follower that stops reading holds one frame, so this bounds what it costs.
pub(crate) const FRAME_BYTES_MAX: usize = 32 * 1024;

/// What an event costs beside its payload, in bytes.
const EVENT_OVERHEAD_BYTES: usize = size_of::<Event>();

/// Bytes of a frame that is kept for others.
const SHARED_BYTES_MAX: usize = 256 * 1024;

/// What a message has beside its payload, in bytes, as a guess.
pub(crate) const MESSAGE_BYTES: usize = 64;

/// Frames kept for followers that stand at the same offset.
const SHARED_FRAMES_MAX: usize = 4;

/// The recent events of a stream, and its followers. Guarded by a lock of its owner.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    /// The tail, once it is known: from a read, or from the first event that came in.
    tail: Option<Offset>,
    events: VecDeque<Event>,
    bytes: usize,
    closed: bool,
    ended: bool,
    followers: Slab<Member>,
    shared: VecDeque<SharedFrame>,
}

#[derive(Debug)]
struct Member {
    cell: Arc<FollowerCell>,
    waiting: bool,
}

#[derive(Debug)]
struct SharedFrame {
    view: View,
    from: Offset,
    chunk: Chunk,
    next: Offset,
    last: bool,
}

/// What lies behind an offset.
#[derive(Debug)]
pub(crate) enum Behind {
    /// Events, framed.
    Frame {
        chunk: Chunk,
        next: Offset,
        /// Nothing can ever follow.
        last: bool,
    },
    /// Nothing yet; the member is woken when that changes.
    Nothing,
    /// The ring does not reach back that far: read the store.
    Fallen,
    /// Nothing, and nothing will come: the stream is closed.
    Closed,
    /// The stream is gone.
    Ended,
}

impl Ring {
    pub(crate) fn join(&mut self, cell: Arc<FollowerCell>) -> usize {
        self.followers.insert(Member { cell, waiting: false })
    }

    pub(crate) fn leave(&mut self, member: usize) {
        self.followers.try_remove(member);
    }

    pub(crate) fn is_unfollowed(&self) -> bool {
        self.followers.is_empty()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Notes the tail that a read found after the ring was made. A later one is known
    /// already if events have come in since.
    pub(crate) fn observe_tail(&mut self, tail: Offset) {
        self.tail.get_or_insert(tail);
    }

    /// Takes in committed events, copied so that they hold nothing else in memory.
    pub(crate) fn push(&mut self, events: &[Event], tail: Offset, closed: bool, bytes_max: usize) {
        let total = events.iter().map(|event| event.payload.len()).sum();
        let mut copy = BytesMut::with_capacity(total);
        for event in events {
            copy.extend_from_slice(&event.payload);
        }
        let mut copy = copy.freeze();
        for event in events {
            let payload = copy.split_to(event.payload.len());
            self.bytes += payload.len() + EVENT_OVERHEAD_BYTES;
            self.events.push_back(Event { payload, ..*event });
        }
        self.tail = Some(tail);
        self.closed |= closed;
        self.shared.clear();
        while self.bytes > bytes_max && self.drop_oldest() {}
    }

    /// Gives up the oldest event; false if there is none.
    pub(crate) fn drop_oldest(&mut self) -> bool {
        let Some(event) = self.events.pop_front() else {
            return false;
        };
        self.bytes -= event.payload.len() + EVENT_OVERHEAD_BYTES;
        true
    }

    /// The stream is gone: nothing may be read from the ring any more.
    pub(crate) fn end(&mut self) {
        self.ended = true;
        self.events.clear();
        self.shared.clear();
        self.bytes = 0;
    }

    /// The members that wait, each of which is told once.
    pub(crate) fn take_waiting(&mut self) -> Vec<Arc<FollowerCell>> {
        let waiting = self.followers.iter_mut().filter(|(_, member)| member.waiting);
        waiting
            .map(|(_, member)| {
                member.waiting = false;
                Arc::clone(&member.cell)
            })
            .collect()
    }

    /// Why there is nothing to take behind `at`; none if there is.
    pub(crate) fn look(&mut self, at: Offset, member: usize) -> Option<Behind> {
        if self.ended {
            return Some(Behind::Ended);
        }
        let reaches_back = match (self.tail, self.events.front()) {
            (None, _) => false,
            (Some(tail), _) if at >= tail => return Some(self.at_tail(member)),
            (Some(_), Some(oldest)) => oldest.start <= at,
            (Some(_), None) => false,
        };
        (!reaches_back).then_some(Behind::Fallen)
    }

    /// What lies behind `at`, framed for `view`.
    ///
    /// Up to `seen` the member has read the store and found nothing to show: the first
    /// bytes of a character, which wait for the rest of it, or for the close.
    pub(crate) fn take(&mut self, at: Offset, seen: Offset, view: View, member: usize) -> Behind {
        let is_seen = seen > at && self.tail.is_some_and(|tail| tail <= seen);
        if is_seen && !self.closed && !self.ended {
            return self.wait(member);
        }
        match self.look(at, member) {
            None => self.take_frame(at, view, member),
            Some(nothing) => nothing,
        }
    }

    fn at_tail(&mut self, member: usize) -> Behind {
        if self.closed {
            return Behind::Closed;
        }
        self.wait(member)
    }

    fn wait(&mut self, member: usize) -> Behind {
        if let Some(member) = self.followers.get_mut(member) {
            member.waiting = true;
        }
        Behind::Nothing
    }

    fn take_frame(&mut self, at: Offset, view: View, member: usize) -> Behind {
        if let Some(found) = self.shared.iter().find(|one| one.from == at && one.view == view) {
            let chunk = found.chunk.clone();
            return Behind::Frame { chunk, next: found.next, last: found.last };
        }
        let mut budget = FRAME_BYTES_MAX;
        loop {
            let (events, whole) = self.events_behind(at, budget);
            let border = Border { up_to_date: whole, ends_stream: whole && self.closed };
            let bytes: usize = events.iter().map(|event| event.payload.len() + MESSAGE_BYTES).sum();
            let mut chunk = ChunkBuilder::with_capacity(bytes);
            let next = frame(chunk.out(), view, &events, border);
            if !chunk.is_empty() {
                return self.share(at, view, chunk.finish(), next, border.ends_stream);
            }
            if whole {
                // Only the first bytes of a character: they wait for the rest of it.
                return self.wait(member);
            }
            budget = budget.saturating_mul(4);
        }
    }

    /// Events behind `at` up to `budget` payload bytes, at least one; whether that is all.
    fn events_behind(&self, at: Offset, budget: usize) -> (Vec<Event>, bool) {
        let first = self.events.partition_point(|event| event.end <= at);
        let mut taken = Vec::new();
        let mut bytes = 0;
        for event in self.events.range(first..) {
            bytes += event.payload.len() + MESSAGE_BYTES;
            if !taken.is_empty() && bytes > budget {
                return (taken, false);
            }
            taken.push(rest_behind(event, at));
        }
        (taken, true)
    }

    fn share(
        &mut self,
        from: Offset,
        view: View,
        chunk: Chunk,
        next: Offset,
        last: bool,
    ) -> Behind {
        if chunk.len() > SHARED_BYTES_MAX {
            return Behind::Frame { chunk, next, last };
        }
        if self.shared.len() == SHARED_FRAMES_MAX {
            self.shared.pop_front();
        }
        self.shared.push_back(SharedFrame { view, from, chunk: chunk.clone(), next, last });
        Behind::Frame { chunk, next, last }
    }
}

/// The event, or what is left of it behind an offset inside it.
fn rest_behind(event: &Event, at: Offset) -> Event {
    if at <= event.start {
        return event.clone();
    }
    // An offset inside an event differs from its start by bytes, in any engine.
    let start = event.start.position().unwrap_or_default();
    let skipped = at.position().unwrap_or_default().saturating_sub(start);
    let skipped = usize::try_from(skipped).unwrap_or(usize::MAX).min(event.payload.len());
    Event { start: at, end: event.end, payload: event.payload.slice(skipped..) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use bytes::Bytes;

    use super::*;
    use crate::follow::frame::Dialect;
    use crate::follow::frame::tests::{DIALECTS, any_events, behind, read, view};

    /// A follower as `Follow` is one, with a list of events for a store.
    struct Reader {
        at: Offset,
        seen: Offset,
        view: View,
        member: usize,
        out: Vec<u8>,
        reads: usize,
    }

    impl Reader {
        fn join(ring: &mut Ring, dialect: Dialect) -> Self {
            let (at, seen) = (Offset::START, Offset::START);
            let member = ring.join(Arc::default());
            Self { at, seen, view: view(dialect), member, out: Vec::new(), reads: 0 }
        }

        /// Takes what there is; returns whether the end was reached.
        fn take(&mut self, ring: &mut Ring, stored: &[Event], closed: bool) -> bool {
            loop {
                match ring.take(self.at, self.seen, self.view, self.member) {
                    Behind::Frame { chunk, next, last } => {
                        self.out.extend_from_slice(&chunk.plain());
                        self.at = next;
                        if last {
                            return true;
                        }
                    }
                    Behind::Nothing => return false,
                    Behind::Closed => return true,
                    Behind::Fallen => {
                        let tail = stored.last().map_or(Offset::START, |event| event.end);
                        let events = behind(stored, self.at);
                        let border = Border { up_to_date: true, ends_stream: closed };
                        if !events.is_empty() {
                            self.at = frame(&mut self.out, self.view, &events, border);
                        }
                        self.seen = tail;
                        ring.observe_tail(tail);
                        self.reads += 1;
                        if closed {
                            return true;
                        }
                    }
                    Behind::Ended => unreachable!("nothing ends the stream here"),
                }
                assert!(self.reads < 1_000, "the store is read over and over");
            }
        }
    }

    proptest! {
        /// However small the ring is, and whenever a follower looks: it gets every byte,
        /// once, in order, and sleeps when there is nothing.
        #[test]
        fn a_follower_gets_the_whole_text(
            (text, events) in any_events(),
            looks in prop::collection::vec(any::<bool>(), 24),
            stored_before in any::<prop::sample::Index>(),
            bytes_max in prop_oneof![Just(0), Just(100), Just(300), Just(10_000)],
        ) {
            for dialect in DIALECTS {
                let mut ring = Ring::default();
                let mut reader = Reader::join(&mut ring, dialect);
                let stored_before = stored_before.index(events.len());
                reader.take(&mut ring, &events[..stored_before], false);
                for index in stored_before..events.len() {
                    let event = &events[index];
                    ring.push(std::slice::from_ref(event), event.end, false, bytes_max);
                    if looks[index % looks.len()] {
                        reader.take(&mut ring, &events[..=index], false);
                    }
                }
                let tail = Offset::at(text.len() as u64);
                ring.push(&[], tail, true, bytes_max);
                prop_assert!(reader.take(&mut ring, &events, true));
                prop_assert_eq!(&read(&reader.out).0, &text);
                prop_assert_eq!(reader.at, tail);
            }
        }
    }

    /// The first bytes of a character that lie in the store alone: read once, then waited
    /// for. Asking the store again would give the same bytes for ever.
    #[test]
    fn half_a_character_is_read_once_and_waited_for() {
        let stored = [Event {
            start: Offset::START,
            end: Offset::at(1),
            payload: Bytes::from_static(b"\xe2"),
        }];
        for dialect in DIALECTS {
            let mut ring = Ring::default();
            let mut reader = Reader::join(&mut ring, dialect);
            for _ in 0..3 {
                assert!(!reader.take(&mut ring, &stored, false));
            }
            assert_eq!(reader.reads, 1);
            assert_eq!(ring.take_waiting().len(), 1);
        }
    }

    #[test]
    fn a_ring_keeps_no_more_than_its_limit_and_counts_what_it_keeps() {
        let mut ring = Ring::default();
        ring.join(Arc::default());
        for index in 0..10 {
            let (start, end) = (Offset::at(index * 100), Offset::at(index * 100 + 100));
            let payload = Bytes::from(vec![0; 100]);
            ring.push(&[Event { start, end, payload }], end, false, 1_000);
            assert!(ring.bytes() <= 1_000);
        }
        assert!(ring.bytes() > 0);
        while ring.drop_oldest() {}
        assert_eq!(ring.bytes(), 0);
    }

    #[test]
    fn frames_are_shared_by_those_who_stand_together() {
        let mut ring = Ring::default();
        let members = [ring.join(Arc::default()), ring.join(Arc::default())];
        let payload = Bytes::from_static(b"abc");
        let event = Event { start: Offset::START, end: Offset::at(3), payload };
        ring.push(&[event], Offset::at(3), false, 1_000);
        let frames = members.map(|member| {
            match ring.take(Offset::START, Offset::START, view(Dialect::Sse), member) {
                Behind::Frame { chunk, .. } => chunk.coded().as_ptr(),
                other => panic!("{other:?}"),
            }
        });
        assert_eq!(frames[0], frames[1]);
    }
}
