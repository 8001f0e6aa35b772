//! What happens by the clock: time-outs, and attempts after a wait.

use squall_stats::ledger::Failure;

use super::driver::Driver;
use super::slot::{Link, Slot};
use crate::exchange::Ended;
use crate::host::clock;
use crate::net::Fault;
use crate::spec::Length;

/// The name under which a connection counts that did not stand in time.
const CONNECT_TIMEOUT: Fault = Fault::Errno("timeout");

/// Failures in a row, a few seconds of them, after which a slot is lost.
const FAILURES_MAX: u32 = 10;

/// What a slot is due for.
enum Due {
    Nothing,
    ConnectTimeout,
    Timeout,
    Work,
}

impl Driver {
    /// Looks at every slot.
    pub(crate) fn tick(&mut self, now_ns: u64) {
        self.look_for_life();
        let timeout_ns = clock::nanos(self.plan.timeout);
        let connect_timeout_ns = clock::nanos(self.plan.connect_timeout);
        for index in 0..self.slots.len() {
            match self.due(index, now_ns, timeout_ns, connect_timeout_ns) {
                Due::Nothing => {}
                Due::ConnectTimeout => self.cannot_open(index, CONNECT_TIMEOUT, now_ns),
                Due::Timeout => self.lose(index, Ended::GivenUp(Failure::Timeout), now_ns),
                Due::Work => self.next(index, now_ns),
            }
        }
    }

    /// Notices a server that has gone for good where the run waits for a number of answers.
    fn look_for_life(&mut self) {
        let counts = matches!(self.plan.length, Length::Requests(_));
        let is_lost = |slot: &Slot| slot.failures_in_row >= FAILURES_MAX;
        self.is_dead = counts && self.slots.iter().all(is_lost);
    }

    /// Goes on reading where a turn stopped; `true` if there is still more.
    pub(crate) fn read_again(&mut self) -> bool {
        for index in std::mem::take(&mut self.again) {
            // Whether the end had come was told once, and is not told again.
            self.readable(index, true);
        }
        !self.again.is_empty()
    }

    fn due(&self, index: usize, now_ns: u64, timeout_ns: u64, connect_timeout_ns: u64) -> Due {
        let Some(slot) = self.slots.get(index) else {
            return Due::Nothing;
        };
        let is_late = |since_ns: u64, limit_ns| now_ns.saturating_sub(since_ns) >= limit_ns;
        match slot.link {
            Link::Opening { since_ns } if is_late(since_ns, connect_timeout_ns) => {
                Due::ConnectTimeout
            }
            Link::Open => match slot.exchange.oldest_started_ns() {
                Some(started_ns) if is_late(started_ns, timeout_ns) => Due::Timeout,
                _ => Due::Nothing,
            },
            Link::Closed if slot.retry_ns <= now_ns && !slot.is_free => Due::Work,
            Link::Opening { .. } | Link::Closed => Due::Nothing,
        }
    }
}
