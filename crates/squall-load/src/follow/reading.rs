//! What a follower reads: a head, then events.

use squall_wire::http::response::{BodyFraming, RequestKind, ResponseHead, ResponsePart};
use squall_wire::sse::decode::SseItem;
use squall_wire::stamp::Stamp;

use super::follower::{Follower, Heard, State};
use super::followers::Followers;
use super::seen::Seen;
use super::tracker::{Sight, Tracker};
use crate::host::clock;
use crate::net::Received;
use crate::plan::LoadPlan;
use crate::record::Window;
use crate::worker::with_buffer;

/// Full reads of one follower before the others have their turn again.
const READS_MAX: usize = 16;

/// Bytes that a slow follower takes at once.
const SLOW_READ_BYTES: usize = 4 * 1024;

/// Rest of a slow follower after it has taken something.
const SLOW_READ_NS: u64 = 1_000_000_000;

/// What becomes of a follower after a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    GoOn,
    /// The answer is complete, or no event stream that can be read: connect again later.
    Cut,
    Stop,
}

/// What reading needs besides the follower.
struct Desk<'s> {
    plan: &'s LoadPlan,
    seen: &'s mut Seen,
    window: Window,
    now_ns: u64,
}

impl Followers {
    /// Reads what is there.
    pub(super) fn readable(&mut self, index: usize, has_ended: bool) {
        for _ in 0..READS_MAX {
            match self.read_once(index, usize::MAX) {
                Some(Received::Data(_, more)) if more || has_ended => {}
                _ => return,
            }
        }
        self.again.push(index);
    }

    /// Goes on reading where a turn stopped; `true` if there is still more.
    pub(crate) fn read_again(&mut self) -> bool {
        for index in std::mem::take(&mut self.again) {
            // Whether the end had come was told once, and is not told again.
            self.readable(index, true);
        }
        !self.again.is_empty()
    }

    /// Reads a little if there is something, and then no more for a while. Where there was
    /// nothing the next look may come soon: the head of the answer is waited for.
    pub(super) fn read_slowly(&mut self, index: usize, now_ns: u64) {
        let received = self.read_once(index, SLOW_READ_BYTES);
        if received != Some(Received::Nothing)
            && let Some(follower) = self.followers.get_mut(index)
        {
            follower.next_read_ns = now_ns + SLOW_READ_NS;
        }
    }

    /// Reads once, at most `bytes_max`; `None` if the connection is over.
    fn read_once(&mut self, index: usize, bytes_max: usize) -> Option<Received> {
        let follower = self.followers.get_mut(index)?;
        let (received, now_ns, next) = with_buffer(|buffer| {
            let length = buffer.len().min(bytes_max);
            let channel = follower.channel.as_mut()?;
            let received =
                channel.receive(buffer.get_mut(..length).unwrap_or_default(), self.was_asleep);
            let now_ns = clock::now_ns();
            let Ok(Received::Data(count, _)) = received else {
                return Some((received, now_ns, Next::Cut));
            };
            let (plan, seen) = (&*self.plan, &mut self.seen);
            let arrived_ns =
                channel.arrived_ns(now_ns).filter(|_| self.was_asleep).unwrap_or(now_ns);
            let mut desk = Desk { plan, seen, window: self.window, now_ns: arrived_ns };
            let bytes = buffer.get(..count).unwrap_or_default();
            let next = desk.take(follower, bytes, &mut self.cache, &self.limits);
            Some((received, now_ns, next))
        })?;
        match (received, next) {
            (Ok(received @ Received::Data(..)), Next::GoOn) => return Some(received),
            (Ok(received @ Received::Nothing), _) => return Some(received),
            (_, Next::Stop) => self.stop(index),
            // What was wrong with the answer has been told already.
            (Ok(Received::Data(..)), Next::Cut) => self.cut(index, now_ns),
            (Ok(Received::End(_)) | Err(_), _) => {
                if follower.state == State::Asking {
                    self.seen.failed("closed");
                }
                self.cut(index, now_ns);
            }
        }
        None
    }
}

impl Desk<'_> {
    fn take(
        &mut self,
        follower: &mut Follower,
        bytes: &[u8],
        cache: &mut squall_wire::http::response::HeadCache,
        limits: &squall_wire::http::response::ResponseLimits,
    ) -> Next {
        self.seen.bytes += bytes.len() as u64;
        if !std::mem::replace(&mut follower.heard.byte, true) {
            self.seen.first_byte.record(self.now_ns.saturating_sub(follower.asked_ns));
        }
        let mut input = bytes;
        loop {
            let next = match follower.reader.read(&mut input, RequestKind::Other, cache, limits) {
                Ok(None) => return Next::GoOn,
                Ok(Some(ResponsePart::Interim(_))) => Next::GoOn,
                Ok(Some(ResponsePart::Head(head))) => self.head(follower, head),
                Ok(Some(ResponsePart::Body(part))) => self.events(follower, part),
                Ok(Some(ResponsePart::End)) => Next::Cut,
                Err(_what) => {
                    self.seen.failed("framing");
                    Next::Cut
                }
            };
            if next != Next::GoOn {
                return next;
            }
        }
    }

    fn head(&mut self, follower: &mut Follower, head: ResponseHead) -> Next {
        if head.status == 204 {
            self.seen.stopped += 1;
            return Next::Stop;
        }
        if head.status != 200 {
            self.seen.failed(&format!("status {}", head.status));
            // As an EventSource: a refusal is for good. A server in trouble is asked again.
            return if head.status >= 500 { Next::Cut } else { Next::Stop };
        }
        if !head.is_event_stream || head.framing == BodyFraming::Empty {
            self.seen.failed("no event stream");
            return Next::Stop;
        }
        self.seen.reconnects += u64::from(std::mem::replace(&mut follower.is_established, true));
        follower.failures_in_row = 0;
        follower.state = State::Following;
        Next::GoOn
    }

    fn events(&mut self, follower: &mut Follower, mut part: &[u8]) -> Next {
        loop {
            match follower.decoder.decode(&mut part) {
                Ok(None) => return Next::GoOn,
                Ok(Some(SseItem::Comment(_))) => self.seen.comments += 1,
                Ok(Some(SseItem::Retry(ms))) => follower.retry_ms = Some(ms),
                Ok(Some(SseItem::Event(event))) => {
                    let data = event.data.as_bytes();
                    let has_stamp = Stamp::find(data).is_some();
                    let is_match = self.is_match(data, has_stamp);
                    // An event without data is a sign of life, not an event.
                    self.event(&mut follower.heard, follower.asked_ns, !data.is_empty(), is_match);
                    for stamp in Stamp::find_all(data) {
                        self.stamp(&mut follower.tracker, follower.is_slow, stamp);
                    }
                }
                Ok(Some(_)) => {}
                Err(_too_long) => {
                    self.seen.failed("event too long");
                    return Next::Stop;
                }
            }
        }
    }

    fn event(&mut self, heard: &mut Heard, asked_ns: u64, has_data: bool, is_match: bool) {
        if !has_data {
            return;
        }
        let since_asked_ns = self.now_ns.saturating_sub(asked_ns);
        let is_measured = self.window.contains(self.now_ns);
        self.seen.events += 1;
        self.seen.events_in_window += u64::from(is_measured);
        if !std::mem::replace(&mut heard.event, true) {
            self.seen.first_event.record(since_asked_ns);
        }
        if is_match && !std::mem::replace(&mut heard.matching, true) {
            self.seen.first_match.record(since_asked_ns);
        }
        if let Some(last_ns) = heard.last_event_ns.replace(self.now_ns)
            && is_measured
        {
            self.seen.gap.record(self.now_ns.saturating_sub(last_ns));
        }
    }

    fn is_match(&self, data: &[u8], has_stamp: bool) -> bool {
        match self.plan.follow.as_ref().and_then(|follow| follow.needle.as_ref()) {
            Some(needle) => needle.find(data).is_some(),
            None if self.plan.has_stamps => has_stamp,
            None => !data.is_empty(),
        }
    }

    fn stamp(&mut self, tracker: &mut Tracker, is_slow: bool, stamp: Stamp) {
        let sight = tracker.see(stamp);
        let is_measured = (self.window.start_ns..self.window.end_ns).contains(&stamp.time_ns);
        if sight == Sight::Own && is_measured && !is_slow {
            self.seen.delivery.record(self.now_ns.saturating_sub(stamp.time_ns));
        }
    }
}
