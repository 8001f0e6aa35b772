//! The main thread's part: opens the window, closes it, and lets everybody go home.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::handle::RunHandle;
use super::progress::{Phase, Reporter, RunProgress};
use super::server::ServerWatch;
use super::steady::{SLICE_NS, Steadiness};
use crate::host::machine::{self, MachineSample};
use crate::host::{clock, usage};
use crate::plan::LoadPlan;
use crate::record::Window;
use crate::spec::{Length, STEADY_MAX, WarmUp};
use crate::worker::{Control, Message};

const MILLISECOND_NS: u64 = 1_000_000;

/// Between the decision to begin and the beginning: enough that every thread has heard of it.
const LEAD_NS: u64 = 5 * MILLISECOND_NS;

/// Longest time between two looks at the handle.
const LOOK_NS: u64 = 50 * MILLISECOND_NS;

/// Time between two reports of progress.
const REPORT_NS: u64 = 1_000 * MILLISECOND_NS;

/// Time between two looks at the server's memory.
const SERVER_NS: u64 = 500 * MILLISECOND_NS;

/// Not known yet.
const UNKNOWN: u64 = u64::MAX;

/// Where a run is, and since when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) phase: Phase,
    pub(super) since_ns: u64,
    pub(super) total: Option<Duration>,
}

/// Conducts one run.
pub(super) struct Conductor<'r> {
    plan: &'r LoadPlan,
    control: &'r Arc<Control>,
    handle: &'r RunHandle,
    messages: Receiver<(usize, Message)>,
    progress: &'r mut dyn FnMut(&RunProgress),
    reporter: Reporter,
    server: Option<ServerWatch>,
    times: Times,
    tally: Tally,
    next_report_ns: u64,
    next_server_ns: u64,
}

/// What the workers have said.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    opened: usize,
    hopeless: usize,
    drained: usize,
    acked: u64,
}

/// What the main thread knows at the end.
pub(super) struct Conducted {
    pub(super) begin_ns: u64,
    pub(super) window: Window,
    pub(super) end_ns: u64,
    pub(super) is_interrupted: bool,
    pub(super) is_steady: Option<bool>,
    pub(super) server: Option<ServerWatch>,
    pub(super) acked: u64,
    pub(super) machine: Option<MachineSample>,
    pub(super) cpu: Option<usage::Usage>,
}

impl<'r> Conductor<'r> {
    pub(super) fn new(
        plan: &'r LoadPlan,
        control: &'r Arc<Control>,
        handle: &'r RunHandle,
        messages: Receiver<(usize, Message)>,
        server: Option<ServerWatch>,
        progress: &'r mut dyn FnMut(&RunProgress),
    ) -> Self {
        let now_ns = clock::now_ns();
        Self {
            plan,
            control,
            handle,
            messages,
            progress,
            reporter: Reporter::new(now_ns),
            server,
            times: Times { phase: Phase::Opening, since_ns: now_ns, total: None },
            tally: Tally::default(),
            next_report_ns: now_ns + REPORT_NS,
            next_server_ns: 0,
        }
    }

    /// Conducts the run from its first connection to its last reply.
    pub(super) fn conduct(mut self) -> Conducted {
        let threads = self.plan.threads;
        self.wait(UNKNOWN, |c| c.tally.opened >= threads || c.handle.ends_window());
        let begin_ns = clock::now_ns() + LEAD_NS;
        // Whoever ends the run before it begins wants no request at all.
        let is_early = self.handle.ends_window();
        let is_steady = if is_early {
            self.control.begin(begin_ns, Window { start_ns: begin_ns, end_ns: begin_ns });
            None
        } else {
            self.warm_up(begin_ns)
        };
        let mut window = self.control.view().window;
        self.wait(window.start_ns, Self::is_to_end);
        let (machine, cpu) = (machine::sample().ok(), usage::process().ok());
        if let Some(server) = &mut self.server {
            server.start();
        }
        let is_interrupted = self.measure(&mut window) || is_early;
        if let Some(server) = &mut self.server {
            server.end();
        }
        let machine = machine.and_then(|start| Some(machine::sample().ok()?.since(&start)));
        let cpu = cpu.and_then(|start| Some(usage::process().ok()?.since(&start)));
        self.drain(window);
        Conducted {
            begin_ns,
            window,
            end_ns: clock::now_ns(),
            is_interrupted,
            is_steady,
            server: self.server,
            acked: self.tally.acked,
            machine,
            cpu,
        }
    }

    /// Lets the load begin; returns once it is known when the window opens.
    fn warm_up(&mut self, begin_ns: u64) -> Option<bool> {
        let length = match self.plan.warm_up {
            WarmUp::None => Duration::ZERO,
            WarmUp::For(length) => length,
            WarmUp::Steady => return Some(self.warm_up_until_steady(begin_ns)),
        };
        self.enter(Phase::WarmUp, begin_ns, Some(length));
        let start_ns = begin_ns + clock::nanos(length);
        self.control.begin(begin_ns, Window { start_ns, end_ns: self.end_of(start_ns) });
        None
    }

    fn warm_up_until_steady(&mut self, begin_ns: u64) -> bool {
        self.enter(Phase::WarmUp, begin_ns, None);
        self.control.begin(begin_ns, Window { start_ns: UNKNOWN, end_ns: UNKNOWN });
        let mut steadiness = Steadiness::default();
        let latest_ns = begin_ns + clock::nanos(STEADY_MAX);
        let mut slice_ns = begin_ns;
        let mut is_steady = false;
        while !is_steady && slice_ns < latest_ns && !self.is_to_end() {
            slice_ns += SLICE_NS;
            self.wait(slice_ns, Self::is_to_end);
            is_steady = steadiness.is_steady_after(self.control.replies());
        }
        let start_ns = clock::now_ns() + LEAD_NS;
        self.control.set_window(Window { start_ns, end_ns: self.end_of(start_ns) });
        is_steady
    }

    /// Waits for the end of the window, and puts it into `window`; `true` if it was ended early.
    fn measure(&mut self, window: &mut Window) -> bool {
        let total = match self.plan.length {
            Length::Time(length) => Some(length),
            Length::Requests(_) => None,
        };
        self.enter(Phase::Measuring, window.start_ns, total);
        let threads = self.plan.threads;
        self.wait(window.end_ns, |c| c.is_to_end() || c.tally.drained >= threads);
        let now_ns = clock::now_ns();
        let is_interrupted = now_ns < window.end_ns && self.handle.ends_window();
        if now_ns < window.end_ns {
            window.end_ns = now_ns;
            window.start_ns = window.start_ns.min(now_ns);
            self.control.end_window(now_ns);
        }
        is_interrupted
    }

    /// Waits for what is on its way, then for followers that have not seen everything.
    fn drain(&mut self, window: Window) {
        self.enter(Phase::Draining, window.end_ns, Some(self.plan.timeout));
        let threads = self.plan.threads;
        self.wait(UNKNOWN, |c| c.tally.drained >= threads || c.handle.stops());
        if self.handle.stops() {
            self.control.stop();
            return;
        }
        let wait_ns = if self.plan.has_stamps { clock::nanos(self.plan.timeout) } else { 0 };
        let until_ns = clock::now_ns().saturating_add(wait_ns);
        self.control.settle(self.tally.acked, until_ns);
        // The workers go home by themselves, unless somebody is in a hurry.
        self.wait(until_ns, |c| c.handle.stops());
        if self.handle.stops() {
            self.control.stop();
        }
    }

    /// Whether the window is to end before its time: on request, or because it is hopeless.
    fn is_to_end(&self) -> bool {
        let loaded = self.plan.threads.min(self.plan.connections);
        self.handle.ends_window() || (loaded > 0 && self.tally.hopeless >= loaded)
    }

    fn end_of(&self, start_ns: u64) -> u64 {
        match self.plan.length {
            Length::Time(length) => start_ns.saturating_add(clock::nanos(length)),
            Length::Requests(_) => UNKNOWN,
        }
    }

    fn enter(&mut self, phase: Phase, since_ns: u64, total: Option<Duration>) {
        self.times = Times { phase, since_ns, total };
    }

    /// Waits until `until_ns`, or until `is_over`; meanwhile it listens, looks and reports.
    fn wait(&mut self, until_ns: u64, is_over: impl Fn(&Self) -> bool) {
        loop {
            let now_ns = clock::now_ns();
            if now_ns >= until_ns || is_over(self) || self.control.view().is_stopped {
                return;
            }
            let left = Duration::from_nanos((until_ns - now_ns).min(LOOK_NS));
            match self.messages.recv_timeout(left) {
                Ok((_, message)) => self.hear(message),
                Err(RecvTimeoutError::Timeout) => {}
                // All workers are gone: there is nothing to wait for.
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.look(clock::now_ns());
        }
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::Opened => self.tally.opened += 1,
            Message::Hopeless => self.tally.hopeless += 1,
            Message::Drained { acked } => {
                self.tally.drained += 1;
                self.tally.acked += acked;
            }
        }
    }

    fn look(&mut self, now_ns: u64) {
        if now_ns >= self.next_server_ns && self.times.phase == Phase::Measuring {
            self.next_server_ns = now_ns + SERVER_NS;
            if let Some(server) = &mut self.server {
                server.look();
            }
        }
        if now_ns >= self.next_report_ns {
            self.next_report_ns = now_ns + REPORT_NS;
            let snapshot = self.control.snapshot();
            let has_followers = self.plan.follow.is_some();
            let progress = self.reporter.report(snapshot, self.times, has_followers, now_ns);
            (self.progress)(&progress);
        }
    }
}
