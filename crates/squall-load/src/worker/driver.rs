//! The connections of one thread, and the requests on them.

use std::collections::VecDeque;
use std::sync::Arc;

use mio::Registry;

use super::factory::Factory;
use super::slot::{Link, Slot};
use super::source::Source;
use crate::exchange::Tools;
use crate::host::clock;
use crate::plan::{Address, LoadPlan};
use crate::record::{Recorder, Window};
use crate::schedule::Share;

/// Connections that one thread is opening at a time before the load begins: a burst of all of
/// them would overflow the server's backlog, and wait a second for the next SYN.
pub(super) const OPENING_MAX: usize = 128;

/// The connections of one thread, and the requests on them.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(super) plan: Arc<LoadPlan>,
    pub(super) address: Address,
    pub(super) registry: Registry,
    pub(super) slots: Vec<Slot>,
    /// The number of the thread's first slot among all, which names publishers.
    pub(super) first_publisher: u32,
    pub(super) run_id: u32,
    pub(super) factory: Factory,
    pub(super) source: Source,
    pub(super) tools: Tools,
    pub(crate) recorder: Recorder,
    pub(super) window: Window,
    pub(super) stage: Stage,
    /// In an open loop: slots that can take a request, longest idle first.
    pub(super) free: VecDeque<usize>,
    /// Reads so far, wrapping.
    pub(super) reads: u32,
    /// The thread slept before this turn.
    pub(super) was_asleep: bool,
    /// Connections that may have more to read although no event will tell.
    pub(super) again: Vec<usize>,
    /// A request was due and no slot was free: what leaves late now is not the generator's lag.
    pub(super) is_starved: bool,
    /// Guards against sending what is due from within the sending.
    pub(super) is_sending: bool,
    /// Every slot has failed again and again, and nothing but answers would end the run.
    pub(super) is_dead: bool,
    /// A connection has been opened.
    pub(super) has_opened: bool,
    /// Slots that have lost a request because their connection could not be opened.
    pub(super) hopeless: usize,
}

/// What the driver is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Connections are opened; requests wait.
    Opening {
        /// The slot to be opened next.
        next: usize,
        /// Attempts that are under way.
        under_way: usize,
    },
    /// Everything is open, and waits for the beginning.
    Ready,
    /// Requests are handed out.
    Running,
    /// What is on its way is waited for.
    Ended,
}

/// The part of the load that one thread has.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) share: Share,
    pub(crate) address: Address,
    pub(crate) follow_address: Option<Address>,
    /// Connections of this thread.
    pub(crate) connections: usize,
    /// Number of its first connection among all.
    pub(crate) first_connection: usize,
    /// Followers of this thread, slow ones not counted.
    pub(crate) followers: usize,
    pub(crate) slow_followers: usize,
    /// What tells this run's stamps from another's.
    pub(crate) run_id: u32,
}

impl Driver {
    pub(crate) fn new(plan: &Arc<LoadPlan>, part: &Part, registry: Registry) -> Self {
        let tools = Tools {
            check: plan.check.clone(),
            cache: squall_wire::http::response::HeadCache::new(),
            limits: squall_wire::http::response::ResponseLimits::default(),
        };
        let recorder = Recorder::new(plan.arrivals.is_some());
        Self {
            address: part.address.clone(),
            registry,
            slots: (0..part.connections).map(|_| Slot::default()).collect(),
            first_publisher: u32::try_from(part.first_connection).unwrap_or(u32::MAX),
            run_id: part.run_id,
            factory: Factory::new(plan, part.share),
            source: Source::new(plan, part.share, part.connections),
            tools,
            window: recorder.window,
            recorder,
            stage: Stage::Opening { next: 0, under_way: 0 },
            free: VecDeque::new(),
            again: Vec::new(),
            was_asleep: false,
            reads: 0,
            is_starved: false,
            is_sending: false,
            is_dead: false,
            has_opened: false,
            hopeless: 0,
            plan: Arc::clone(plan),
        }
    }

    /// Opens connections ahead of the load, as many at a time as is good for the server; `true`
    /// once all have been tried. Without keep-alive every request opens its own.
    pub(crate) fn open_ahead(&mut self, now_ns: u64) -> bool {
        while let Stage::Opening { next, under_way } = self.stage {
            if next == self.slots.len() || !self.plan.keep_alive {
                if under_way == 0 {
                    self.stage = Stage::Ready;
                }
                break;
            }
            if under_way >= OPENING_MAX {
                break;
            }
            self.stage = Stage::Opening { next: next + 1, under_way: under_way + 1 };
            self.connect(next, now_ns);
        }
        !matches!(self.stage, Stage::Opening { .. })
    }

    /// Begins to hand out requests.
    pub(crate) fn begin(&mut self, begin_ns: u64, window: Window, now_ns: u64) {
        self.set_window(window);
        self.stage = Stage::Running;
        self.source.begin(begin_ns, window);
        for index in 0..self.slots.len() {
            // Handing out takes time, which is no request's own.
            self.next(index, clock::now_ns().max(now_ns));
        }
    }

    /// Learns of the window, as far as it is known.
    pub(crate) fn set_window(&mut self, window: Window) {
        self.window = window;
        self.recorder.window = window;
    }

    /// Learns whether the thread slept before this turn.
    pub(crate) fn set_asleep(&mut self, was_asleep: bool) {
        self.was_asleep = was_asleep;
    }

    /// Whether the load has begun and every request of it is done. `until_ns` ends the sending of
    /// what is late.
    pub(crate) fn is_done(&mut self, now_ns: u64, until_ns: u64) -> bool {
        if self.stage == Stage::Running {
            let is_over = now_ns >= self.window.end_ns || self.source.is_used_up();
            if self.source.is_open() {
                if now_ns >= until_ns {
                    self.recorder.missed += self.source.miss_the_rest(self.window);
                }
                if !is_over || self.source.next_due_ns(self.window).is_some() {
                    return false;
                }
            } else if !is_over {
                return false;
            }
            self.stage = Stage::Ended;
        }
        self.stage == Stage::Ended && self.outstanding() == 0
    }

    /// Gives up what is on its way and what was never sent.
    pub(crate) fn abandon(&mut self) {
        // Of a window that was never set nothing is missing.
        if self.source.is_open() && self.window.end_ns != u64::MAX {
            self.recorder.missed += self.source.miss_the_rest(self.window);
        }
        for slot in &mut self.slots {
            slot.exchange.abandon(&mut self.recorder);
        }
        self.close();
        self.stage = Stage::Ended;
    }

    /// Closes what is still open; nothing is on its way any more.
    pub(crate) fn close(&mut self) {
        for slot in &mut self.slots {
            self.recorder.connections.closed_by_client += u64::from(slot.link == Link::Open);
            slot.link = Link::Closed;
            slot.channel = None;
            slot.first = Vec::new();
        }
    }

    /// In an open loop: requests that are due by now and wait to be sent.
    pub(crate) fn late(&self, now_ns: u64) -> u64 {
        if self.stage == Stage::Running {
            self.source.late(now_ns.min(self.window.end_ns))
        } else {
            0
        }
    }

    /// How many stamps each slot has sent, in the order of publishers.
    pub(crate) fn stamps_sent(&self) -> Vec<u32> {
        self.slots.iter().map(|slot| slot.stamp_sequence).collect()
    }

    /// Whether it makes no sense to go on: no connection was ever opened although every slot has
    /// lost a request to that, or a number of requests was asked for and all slots fail.
    pub(crate) fn is_hopeless(&self) -> bool {
        let never_opened = !self.has_opened && self.hopeless >= self.slots.len();
        !self.slots.is_empty() && (never_opened || self.is_dead)
    }

    /// Requests on their way.
    pub(crate) fn outstanding(&self) -> u64 {
        let of = |counts: &crate::record::Counts| {
            counts.sent - counts.ok - counts.failed - counts.unanswered
        };
        of(&self.recorder.warm_up) + of(&self.recorder.measured)
    }
}
