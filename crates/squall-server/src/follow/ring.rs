//! The ring: the most recent committed events of one followed stream.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use slab::Slab;
use squall_stream::{Event, Offset};

use crate::follow::cell::FollowerCell;
use crate::follow::frame::{Border, View, frame};

/// Payload bytes that one frame takes, unless a single event is larger.
///
/// A follower that stops reading holds one frame, so this bounds what it costs.
pub(crate) const FRAME_BYTES_MAX: usize = 32 * 1024;

/// What an event costs beside its payload, in bytes.
const EVENT_OVERHEAD_BYTES: usize = size_of::<Event>();

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
    bytes: Bytes,
    next: Offset,
    last: bool,
}

/// What lies behind an offset.
#[derive(Debug)]
pub(crate) enum Behind {
    /// Events, framed.
    Frame {
        bytes: Bytes,
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

    /// What lies behind `at`, without framing it.
    pub(crate) fn look(&mut self, at: Offset, member: usize) -> Behind {
        if self.ended {
            return Behind::Ended;
        }
        let reaches_back = match (self.tail, self.events.front()) {
            (None, _) => false,
            (Some(tail), _) if at >= tail => return self.at_tail(member),
            (Some(_), Some(oldest)) => oldest.start <= at,
            (Some(_), None) => false,
        };
        if !reaches_back {
            return Behind::Fallen;
        }
        Behind::Frame { bytes: Bytes::new(), next: at, last: false }
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
            Behind::Frame { .. } => self.take_frame(at, view, member),
            other => other,
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
            return Behind::Frame {
                bytes: found.bytes.clone(),
                next: found.next,
                last: found.last,
            };
        }
        let mut budget = FRAME_BYTES_MAX;
        loop {
            let (events, whole) = self.events_behind(at, budget);
            let border = Border { up_to_date: whole, ends_stream: whole && self.closed };
            let mut out = Vec::with_capacity(budget.min(self.bytes) + 256);
            let next = frame(&mut out, view, &events, border);
            if !out.is_empty() {
                return self.share(at, view, Bytes::from(out), next, border.ends_stream);
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
            bytes += event.payload.len();
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
        bytes: Bytes,
        next: Offset,
        last: bool,
    ) -> Behind {
        if self.shared.len() == SHARED_FRAMES_MAX {
            self.shared.pop_front();
        }
        self.shared.push_back(SharedFrame { view, from, bytes: bytes.clone(), next, last });
        Behind::Frame { bytes, next, last }
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
