//! The loop of one thread.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mio::{Events, Poll};

use super::control::{Control, Message, Messages, View};
use super::driver::{Driver, Part};
use super::error::WorkerError;
use super::timer::Timer;
use super::token::{Owner, TIMER, WAKER, owner};
use crate::follow::{Followers, Seen};
use crate::host::{clock, cpus, usage};
use crate::net::look_at_clocks;
use crate::plan::LoadPlan;
use crate::record::{Recorder, Window};

const MILLISECOND_NS: u64 = 1_000_000;

/// Events taken from the kernel at once.
const EVENTS_MAX: usize = 1_024;

/// Time-outs are noticed this much late at most.
const TICK_MAX_NS: u64 = 100 * MILLISECOND_NS;
const TICK_MIN_NS: u64 = 5 * MILLISECOND_NS;

/// A sleeping thread is woken this much late; so it sleeps that much less, and looks again and
/// again for the rest.
const ALERT_NS: u64 = 50_000;

/// A wait of this length, beside what taking the events takes, was a sleep: being woken from it
/// took time that is not the server's.
const ASLEEP_NS: u64 = 10_000;

/// What it takes the kernel to hand over one event, at most.
const EVENT_NS: u64 = 300;

/// Time between two snapshots for the progress line.
const SNAPSHOT_NS: u64 = 500 * MILLISECOND_NS;

/// What a thread brings home.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) recorder: Recorder,
    pub(crate) seen: Seen,
    /// Processor time inside the window.
    pub(crate) cpu: Duration,
    /// By publisher: how many stamps were sent.
    pub(crate) stamps_sent: Vec<u32>,
}

/// The loop of one thread.
#[derive(Debug)]
pub(crate) struct Worker {
    index: usize,
    plan: Arc<LoadPlan>,
    control: Arc<Control>,
    messages: Messages,
    poll: Poll,
    timer: Timer,
    driver: Driver,
    followers: Followers,
    tick_ns: u64,
    /// How long before a request is due the thread stays awake.
    alert_ns: u64,
    next_tick_ns: u64,
    next_snapshot_ns: u64,
    progress: Progress,
    cpu: CpuMeter,
}

/// What has been said to the main thread.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    has_opened: bool,
    has_begun: bool,
    has_given_up: bool,
    has_drained: bool,
}

/// Processor time inside the window.
#[derive(Clone, Copy, Debug, Default)]
struct CpuMeter {
    at_start: Option<Duration>,
    at_end: Option<Duration>,
}

impl Worker {
    /// Sets up the loop that `poll` belongs to.
    pub(crate) fn new(
        plan: &Arc<LoadPlan>,
        part: &Part,
        poll: Poll,
        control: Arc<Control>,
        messages: Messages,
    ) -> io::Result<Self> {
        let timer = Timer::new(poll.registry())?;
        let shortest = plan.timeout.min(plan.connect_timeout);
        let tick_ns = (clock::nanos(shortest) / 50).clamp(TICK_MIN_NS, TICK_MAX_NS);
        Ok(Self {
            index: part.share.index as usize,
            driver: Driver::new(plan, part, poll.registry().try_clone()?),
            followers: Followers::new(plan, part, poll.registry().try_clone()?),
            plan: Arc::clone(plan),
            control,
            messages,
            poll,
            timer,
            tick_ns,
            // Where the server would have to wait for the same processor it is left to sleep.
            alert_ns: if !plan.pin.is_empty() || cpus::allowed().len() > 1 { ALERT_NS } else { 0 },
            next_tick_ns: 0,
            next_snapshot_ns: 0,
            progress: Progress::default(),
            cpu: CpuMeter::default(),
        })
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// [`WorkerError`] if the thread cannot be pinned or the loop fails.
    pub(crate) fn run(mut self) -> Result<Outcome, WorkerError> {
        if !self.plan.pin.is_empty() {
            cpus::pin_this_thread(&self.plan.pin)?;
        }
        let mut events = Events::with_capacity(EVENTS_MAX);
        look_at_clocks();
        loop {
            let now_ns = clock::now_ns();
            let view = self.control.view();
            if self.obey(view, now_ns) {
                break;
            }
            self.wait(&mut events, view.window, now_ns)?;
            self.handle(&events);
            let now_ns = clock::now_ns();
            if now_ns >= self.next_tick_ns {
                self.tick(now_ns);
            }
        }
        Ok(self.end())
    }

    /// Does what the switches say; `true` once everything is over.
    fn obey(&mut self, view: View, now_ns: u64) -> bool {
        // Also for a run that is stopped: what lies behind its end was never scheduled.
        self.driver.set_window(view.window);
        if view.is_stopped {
            self.driver.abandon();
            return true;
        }
        self.followers.set_window(view.window);
        self.cpu.look(view.window, now_ns);
        if !self.progress.has_begun {
            self.open(view, now_ns);
            return false;
        }
        self.driver.send_due(now_ns);
        if self.driver.is_hopeless() && !self.progress.has_given_up {
            self.progress.has_given_up = true;
            self.say(Message::Hopeless);
        }
        if self.progress.has_drained {
            let until_ns = view.settle_until_ns;
            return until_ns != u64::MAX
                && (now_ns >= until_ns || self.followers.have_all(self.control.acked()));
        }
        self.drain(view, now_ns);
        false
    }

    /// Before the load: opens connections, then waits for the beginning.
    fn open(&mut self, view: View, now_ns: u64) {
        let are_open = self.driver.open_ahead(now_ns);
        if are_open && self.followers.open_ahead(now_ns) && !self.progress.has_opened {
            self.progress.has_opened = true;
            self.say(Message::Opened);
        }
        if now_ns >= view.begin_ns {
            self.progress.has_begun = true;
            self.followers.begin();
            self.driver.begin(view.begin_ns, view.window, now_ns);
        }
    }

    /// After the window: waits for what is on its way, up to the time-out.
    fn drain(&mut self, view: View, now_ns: u64) {
        let timeout_ns = clock::nanos(self.plan.timeout);
        let send_until_ns = view.window.end_ns.saturating_add(timeout_ns);
        // What was sent inside the window has timed out by then, give or take a tick.
        let wait_until_ns = send_until_ns.saturating_add(3 * self.tick_ns);
        let is_done = self.driver.is_done(now_ns, send_until_ns);
        let is_late = self.plan.arrivals.is_some() && now_ns >= wait_until_ns;
        if is_late && !is_done {
            self.driver.abandon();
        }
        if is_done || is_late {
            self.progress.has_drained = true;
            self.say(Message::Drained { acked: self.driver.recorder.acked });
        }
    }

    /// Waits for events, but not beyond the next moment at which something is due.
    fn wait(
        &mut self,
        events: &mut Events,
        window: Window,
        now_ns: u64,
    ) -> Result<(), WorkerError> {
        let has_more = self.driver.read_again() | self.followers.read_again();
        let mut wake_ns = self.next_tick_ns;
        if let Some(due_ns) = self.driver.next_wake_ns() {
            wake_ns = wake_ns.min(due_ns.saturating_sub(self.alert_ns));
        }
        if !self.progress.has_begun {
            wake_ns = wake_ns.min(self.control.view().begin_ns);
        }
        let timeout = if has_more || wake_ns <= now_ns {
            Some(Duration::ZERO)
        } else {
            self.timer.wake_at(wake_ns, now_ns)?;
            None
        };
        let before_ns = clock::now_ns();
        match self.poll.poll(events, timeout) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        let after_ns = clock::now_ns();
        // A turn in which nothing came is a wait as a whole.
        let from_ns = if events.is_empty() && !has_more { now_ns } else { before_ns };
        self.driver.recorder.waiting.add(from_ns, after_ns, window);
        let taking_ns = ASLEEP_NS + events.iter().count() as u64 * EVENT_NS;
        let was_asleep = timeout.is_none() && after_ns - before_ns >= taking_ns;
        self.driver.set_asleep(was_asleep);
        self.followers.set_asleep(was_asleep);
        Ok(())
    }

    fn handle(&mut self, events: &Events) {
        for event in events {
            let token = event.token();
            if token == TIMER || token == WAKER {
                continue;
            }
            let has_ended = event.is_read_closed() || event.is_error();
            let (owner, generation) = owner(token);
            match owner {
                Owner::Slot(index) => {
                    self.driver.ready(index, generation, has_ended, event.is_writable());
                }
                Owner::Follower(index) => {
                    self.followers.ready(index, generation, has_ended, event.is_writable());
                }
            }
        }
    }

    fn tick(&mut self, now_ns: u64) {
        self.next_tick_ns = now_ns + self.tick_ns;
        look_at_clocks();
        self.driver.tick(now_ns);
        self.followers.tick(now_ns);
        let counts = (&self.driver.recorder.warm_up, &self.driver.recorder.measured);
        self.control.publish_replies(self.index, counts.0.ok + counts.1.ok);
        if now_ns >= self.next_snapshot_ns {
            self.next_snapshot_ns = now_ns + SNAPSHOT_NS;
            let (driver, events) = (&self.driver, self.followers.events());
            let snapshot = || driver.recorder.snapshot(events, driver.late(now_ns));
            self.control.publish(self.index, snapshot);
        }
    }

    fn end(mut self) -> Outcome {
        self.cpu.stop();
        let stamps_sent = self.driver.stamps_sent();
        self.driver.close();
        Outcome {
            seen: self.followers.end(),
            recorder: self.driver.recorder,
            cpu: self.cpu.used(),
            stamps_sent,
        }
    }

    fn say(&self, message: Message) {
        // The main thread only goes when it no longer cares.
        self.messages.try_send((self.index, message)).ok();
    }
}

impl CpuMeter {
    fn look(&mut self, window: Window, now_ns: u64) {
        if self.at_start.is_none() && now_ns >= window.start_ns {
            self.at_start = Some(usage::thread_cpu());
        }
        if self.at_end.is_none() && now_ns >= window.end_ns {
            self.at_end = Some(usage::thread_cpu());
        }
    }

    fn stop(&mut self) {
        self.at_end.get_or_insert_with(usage::thread_cpu);
    }

    fn used(&self) -> Duration {
        match (self.at_start, self.at_end) {
            (Some(start), Some(end)) => end.saturating_sub(start),
            _ => Duration::ZERO,
        }
    }
}
