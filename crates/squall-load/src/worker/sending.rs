//! Handing out requests.

use super::driver::{Driver, Stage};
use super::factory::{Made, Order};
use super::slot::{Link, Slot};
use crate::exchange::{Ended, Pending};

impl Driver {
    /// Gives a slot without work its next one.
    pub(super) fn next(&mut self, index: usize, now_ns: u64) {
        if self.stage != Stage::Running {
            return;
        }
        if self.source.is_open() {
            self.set_free(index, now_ns);
            self.send_due(now_ns);
        } else {
            self.next_batch(index, now_ns);
        }
    }

    /// In a closed loop: as many requests as may be on their way at once.
    fn next_batch(&mut self, index: usize, now_ns: u64) {
        let Some(slot) = self.slots.get(index) else {
            return;
        };
        if now_ns >= self.window.end_ns || slot.retry_ns > now_ns {
            return;
        }
        let is_measured = now_ns >= self.window.start_ns;
        let room = self.room(index);
        let count = self.source.grant(room, is_measured);
        if count > 0 {
            self.hand(index, count, now_ns, now_ns);
        }
    }

    /// In an open loop: everything that is due and finds a slot.
    pub(crate) fn send_due(&mut self, now_ns: u64) {
        if self.stage != Stage::Running || std::mem::replace(&mut self.is_sending, true) {
            return;
        }
        while let Some(due_ns) = self.source.next_due_ns(self.window)
            && due_ns <= now_ns
        {
            let Some(index) = self.free.pop_front() else {
                self.is_starved = true;
                break;
            };
            let Some(slot) = self.slots.get_mut(index) else {
                continue;
            };
            slot.is_free = false;
            if slot.link == Link::Closed && slot.retry_ns > now_ns {
                // It was cut while it stood in line; it comes back when its wait is over.
                continue;
            }
            if !self.is_starved && due_ns >= self.window.start_ns {
                self.recorder.lag.record(now_ns - due_ns);
            }
            self.source.advance();
            self.hand(index, 1, due_ns, now_ns);
            self.set_free(index, now_ns);
        }
        if self.source.next_due_ns(self.window).is_none_or(|due_ns| due_ns > now_ns) {
            self.is_starved = false;
        }
        self.is_sending = false;
    }

    /// When the next request is due and can be sent.
    pub(crate) fn next_wake_ns(&mut self) -> Option<u64> {
        if self.stage != Stage::Running || !self.source.is_open() || self.free.is_empty() {
            return None;
        }
        self.source.next_due_ns(self.window)
    }

    /// Puts a slot that can take a request in the line, unless it stands there.
    fn set_free(&mut self, index: usize, now_ns: u64) {
        let room = self.room(index);
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        let can = match slot.link {
            Link::Open => room > slot.exchange.outstanding(),
            Link::Closed => slot.retry_ns <= now_ns,
            Link::Opening { .. } => false,
        };
        if can && !slot.is_free {
            slot.is_free = true;
            self.free.push_back(index);
        }
    }

    /// Most requests that the slot's connection may have on their way.
    fn room(&self, index: usize) -> usize {
        let handed = self.slots.get(index).map_or(0, |slot| slot.exchange.handed());
        let waiting = self.slots.get(index).map_or(0, |slot| slot.exchange.outstanding() as u64);
        let of_connection = match self.plan.requests_per_connection {
            _ if !self.plan.keep_alive => 1_u64,
            Some(requests) => requests,
            None => return self.plan.pipeline,
        };
        let left = of_connection.saturating_sub(handed - waiting);
        usize::try_from(left).unwrap_or(usize::MAX).min(self.plan.pipeline)
    }

    /// Hands `count` requests to a slot, opening its connection first if there is none.
    fn hand(&mut self, index: usize, count: usize, intended_ns: u64, now_ns: u64) {
        let publisher = self.first_publisher + u32::try_from(index).unwrap_or(0);
        let is_measured = intended_ns >= self.window.start_ns;
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        let order = Order {
            intended_ns,
            publisher: u64::from(self.run_id) << 32 | u64::from(publisher),
            sequence: slot.stamp_sequence,
        };
        let (exchange, recorder) = (&mut slot.exchange, &mut self.recorder);
        let stamps = &mut slot.stamp_sequence;
        let each = |made: Made| {
            let stamp = made.stamp.map(|sequence| (publisher, sequence));
            *stamps = stamps.wrapping_add(u32::from(stamp.is_some()));
            let is_reused = exchange.handed() > 0;
            let kind = made.kind;
            let pending = Pending { intended_ns, started_ns: now_ns, stamp, kind, is_measured };
            exchange.push(pending);
            recorder.sent(&pending, made.bytes, is_reused);
        };
        let bytes = self.factory.make(count, order, each);
        self.source.took(count, is_measured);
        match (slot.link, &mut slot.channel) {
            (Link::Open, Some(channel)) => {
                if channel.send(bytes).is_err() {
                    self.read_out(index, now_ns);
                }
            }
            (Link::Closed, _) => {
                slot.first.extend_from_slice(bytes);
                self.connect(index, now_ns);
            }
            _ => slot.first.extend_from_slice(bytes),
        }
    }

    /// The peer takes no more: what it said before it went is read, then the connection ends.
    fn read_out(&mut self, index: usize, now_ns: u64) {
        let generation = self.slots.get(index).map(|slot| slot.generation);
        self.readable(index, true);
        let is_same = |slot: &Slot| Some(slot.generation) == generation && slot.link == Link::Open;
        if self.slots.get(index).is_some_and(is_same) {
            self.lose(index, Ended::Reset, now_ns);
        }
    }
}
