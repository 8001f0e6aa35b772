//! The followers of one thread: opened, watched, opened again.

use std::sync::Arc;

use mio::Registry;
use squall_wire::http::response::{HeadCache, ResponseLimits};

use super::follower::{Follower, State};
use super::seen::Seen;
use crate::host::clock;
use crate::net::{Channel, Fault, Started};
use crate::plan::{Address, FollowPlan, LoadPlan};
use crate::record::Window;
use crate::worker::{Owner, Part, token};

const MILLISECOND_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000 * MILLISECOND_NS;

/// Followers that one thread is opening at a time before the load begins.
const OPENING_MAX: usize = 128;

/// How long the load waits for the answer to a follower's request: a server may send nothing,
/// not even a head, before the first event.
const ANSWER_WAIT_NS: u64 = SECOND_NS;

/// Wait before a follower connects again, unless the server says otherwise.
const RETRY_NS: u64 = SECOND_NS;

/// Shortest wait before a follower connects again, whatever the server says.
const RETRY_MIN_NS: u64 = 10 * MILLISECOND_NS;

/// Receive buffer of a slow follower, in bytes; the kernel doubles it.
const SLOW_BUFFER_BYTES: usize = 4 * 1024;

/// The followers of one thread.
#[derive(Debug)]
pub(crate) struct Followers {
    pub(super) plan: Arc<LoadPlan>,
    address: Option<Address>,
    registry: Registry,
    pub(super) followers: Vec<Follower>,
    pub(super) seen: Seen,
    pub(super) window: Window,
    pub(super) cache: HeadCache,
    pub(super) limits: ResponseLimits,
    /// The thread slept before this turn.
    pub(super) was_asleep: bool,
    /// Followers that may have more to read although no event will tell.
    pub(super) again: Vec<usize>,
    /// The follower to be opened next, before the load.
    next: usize,
    /// All have been tried once: from now on those that were cut are tried again.
    is_open: bool,
}

impl Followers {
    pub(crate) fn new(plan: &Arc<LoadPlan>, part: &Part, registry: Registry) -> Self {
        let follower = |index| Follower::new(part.run_id, index >= part.followers);
        let all = part.followers + part.slow_followers;
        Self {
            plan: Arc::clone(plan),
            address: part.follow_address.clone(),
            registry,
            followers: (0..all).map(follower).collect(),
            seen: Seen { asked: all as u64, ..Seen::default() },
            window: Window { start_ns: u64::MAX, end_ns: u64::MAX },
            cache: HeadCache::new(),
            limits: ResponseLimits::default(),
            again: Vec::new(),
            was_asleep: false,
            next: 0,
            is_open: false,
        }
    }

    /// Opens followers ahead of the load; `true` once all have been tried and answered, as far
    /// as they are.
    pub(crate) fn open_ahead(&mut self, now_ns: u64) -> bool {
        if self.followers.is_empty() {
            return true;
        }
        let is_under_way = |f: &Follower| match f.state {
            State::Opening { .. } => true,
            State::Asking => now_ns < f.asked_ns + ANSWER_WAIT_NS,
            _ => false,
        };
        let mut under_way = self.followers.iter().filter(|f| is_under_way(f)).count();
        while self.next < self.followers.len() && under_way < OPENING_MAX {
            self.connect(self.next, now_ns);
            self.next += 1;
            under_way += 1;
        }
        self.is_open |=
            self.next == self.followers.len() && !self.followers.iter().any(is_under_way);
        self.is_open
    }

    /// The load begins, whether all followers are there or not.
    pub(crate) fn begin(&mut self) {
        self.is_open = true;
        self.next = self.followers.len();
    }

    pub(crate) fn set_window(&mut self, window: Window) {
        self.window = window;
    }

    /// Learns whether the thread slept before this turn.
    pub(crate) fn set_asleep(&mut self, was_asleep: bool) {
        self.was_asleep = was_asleep;
    }

    /// Events received so far.
    pub(crate) fn events(&self) -> u64 {
        self.seen.events
    }

    /// Whether every follower that is to receive everything has received `acked` appends.
    pub(crate) fn have_all(&self, acked: u64) -> bool {
        let waits = |follower: &&Follower| !follower.is_slow && follower.state != State::Stopped;
        let own =
            |follower: &Follower| follower.tracker.delivered - follower.tracker.foreign_delivered;
        !self.plan.has_stamps
            || self.followers.iter().filter(waits).all(|follower| own(follower) >= acked)
    }

    /// An event came for a follower's connection.
    pub(crate) fn ready(
        &mut self,
        index: usize,
        generation: u32,
        has_ended: bool,
        is_writable: bool,
    ) {
        let Some(follower) = self.followers.get_mut(index).filter(|f| f.generation == generation)
        else {
            return;
        };
        match follower.state {
            State::Closed { .. } | State::Stopped => {}
            State::Opening { .. } => self.go_on_opening(index, clock::now_ns()),
            State::Asking | State::Following => {
                if is_writable && let Some(channel) = &mut follower.channel {
                    // A failure shows itself to the read.
                    channel.flush().ok();
                }
                if !follower.is_slow {
                    self.readable(index, has_ended);
                }
            }
        }
    }

    /// What happens by the clock: time-outs, further attempts, the reads of slow followers.
    pub(crate) fn tick(&mut self, now_ns: u64) {
        let connect_timeout_ns = clock::nanos(self.plan.connect_timeout);
        for index in 0..self.next {
            let Some(follower) = self.followers.get_mut(index) else {
                continue;
            };
            match follower.state {
                State::Closed { retry_ns } if self.is_open && retry_ns <= now_ns => {
                    self.connect(index, now_ns);
                }
                State::Opening { since_ns } if now_ns >= since_ns + connect_timeout_ns => {
                    self.cannot_open(index, Fault::Errno("timeout"), now_ns);
                }
                State::Asking | State::Following
                    if follower.is_slow && follower.next_read_ns <= now_ns =>
                {
                    self.read_slowly(index, now_ns);
                }
                _ => {}
            }
        }
    }

    /// Closes all, and gives what they saw.
    pub(crate) fn end(mut self) -> Seen {
        for follower in self.followers {
            self.seen.established += u64::from(follower.is_established);
            if !follower.is_slow {
                self.seen.trackers.push(follower.tracker);
            }
        }
        self.seen
    }

    /// The connection has ended: the follower waits, then goes on from the newest id.
    pub(super) fn cut(&mut self, index: usize, now_ns: u64) {
        let Some(follower) = self.followers.get_mut(index) else {
            return;
        };
        if follower.state == State::Following && !follower.decoder.is_at_border() {
            self.seen.cut_events += 1;
        }
        let wait_ns = follower.retry_ms.map_or(RETRY_NS, |ms| ms.saturating_mul(MILLISECOND_NS));
        let retry_ns = now_ns.saturating_add(wait_ns.max(RETRY_MIN_NS));
        follower.state = State::Closed { retry_ns };
        follower.channel = None;
    }

    /// The follower is of no further use.
    pub(super) fn stop(&mut self, index: usize) {
        if let Some(follower) = self.followers.get_mut(index) {
            follower.state = State::Stopped;
            follower.channel = None;
        }
    }

    fn plan_of_follow(&self) -> Option<&FollowPlan> {
        self.plan.follow.as_ref()
    }

    fn connect(&mut self, index: usize, now_ns: u64) {
        let Some(follow) = self.plan.follow.as_ref() else {
            return;
        };
        let (Some(follower), Some(address)) = (self.followers.get_mut(index), &self.address) else {
            return;
        };
        follower.generation = follower.generation.wrapping_add(1);
        follower.reader.reset();
        follower.decoder.reconnect();
        let token = token(Owner::Follower(index), follower.generation);
        let receive_bytes = follower.is_slow.then_some(SLOW_BUFFER_BYTES);
        match Channel::open(&follow.endpoint, address, receive_bytes, &self.registry, token) {
            Ok(channel) => {
                follower.channel = Some(Box::new(channel));
                follower.state = State::Opening { since_ns: now_ns };
                self.go_on_opening(index, now_ns);
            }
            Err(fault) => self.cannot_open(index, fault, now_ns),
        }
    }

    fn go_on_opening(&mut self, index: usize, now_ns: u64) {
        let Some(follower) = self.followers.get_mut(index) else {
            return;
        };
        let Some(channel) = &mut follower.channel else {
            return;
        };
        match channel.start() {
            Ok(Started::Waiting) => {}
            Err(fault) => self.cannot_open(index, fault, now_ns),
            Ok(Started::Ready) => self.ask(index, now_ns),
        }
    }

    /// Sends the request.
    fn ask(&mut self, index: usize, now_ns: u64) {
        let id = match self.followers.get(index) {
            Some(follower) => follower.decoder.last_event_id().to_owned(),
            None => return,
        };
        // An id that no header can hold was not a server's own; the follow starts over.
        let request = self
            .plan_of_follow()
            .and_then(|follow| follow.request(&id).or_else(|| follow.request("")));
        let (Some(follower), Some(request)) = (self.followers.get_mut(index), request) else {
            return;
        };
        follower.state = State::Asking;
        follower.asked_ns = now_ns;
        let sent = follower.channel.as_mut().map(|channel| channel.send(request.bytes()));
        if !matches!(sent, Some(Ok(_))) {
            self.seen.failed("reset");
            self.cut(index, now_ns);
        }
    }

    fn cannot_open(&mut self, index: usize, fault: Fault, now_ns: u64) {
        self.seen.failed(fault.name());
        let Some(follower) = self.followers.get_mut(index) else {
            return;
        };
        follower.failures_in_row = follower.failures_in_row.saturating_add(1);
        self.cut(index, now_ns);
    }
}
