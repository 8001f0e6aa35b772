//! The life of a connection: opened, read from, closed.

use squall_stats::ledger::Failure;

use super::driver::{Driver, Stage};
use super::slot::Link;
use super::token::{Owner, token};
use crate::exchange::{Ended, Unmatched};
use crate::host::clock;
use crate::net::{Channel, Fault, Received, Started};

/// Bytes read at once.
const READ_BYTES: usize = 64 * 1024;

/// Full reads of one connection before the others have their turn again.
const READS_MAX: usize = 16;

/// Of all reads every so many is a sample of how long bytes wait for the thread. A busy one asks
/// the kernel for those only.
const PICKUP_EVERY: u32 = 16;

thread_local! {
    /// One buffer for all connections of a thread: what is read is used up before the next read.
    static BUFFER: std::cell::RefCell<Vec<u8>> = std::cell::RefCell::new(vec![0; READ_BYTES]);
}

/// Lends the thread's buffer.
pub(crate) fn with_buffer<T>(body: impl FnOnce(&mut [u8]) -> T) -> T {
    BUFFER.with_borrow_mut(|buffer| body(buffer))
}

impl Driver {
    /// Begins to open a slot's connection.
    pub(super) fn connect(&mut self, index: usize, now_ns: u64) {
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        slot.generation = slot.generation.wrapping_add(1);
        let token = token(Owner::Slot(index), slot.generation);
        let endpoint = &self.plan.endpoint;
        match Channel::open(endpoint, &self.address, None, &self.registry, token) {
            Ok(channel) => {
                slot.channel = Some(Box::new(channel));
                slot.link = Link::Opening { since_ns: now_ns };
                self.go_on_opening(index, now_ns);
            }
            Err(fault) => self.cannot_open(index, fault, now_ns),
        }
    }

    /// An event came for a slot's connection.
    pub(crate) fn ready(
        &mut self,
        index: usize,
        generation: u32,
        has_ended: bool,
        is_writable: bool,
    ) {
        let Some(slot) = self.slots.get_mut(index).filter(|slot| slot.generation == generation)
        else {
            return;
        };
        match slot.link {
            Link::Closed => {}
            Link::Opening { .. } => self.go_on_opening(index, clock::now_ns()),
            Link::Open => {
                if is_writable
                    && let Some(channel) = &mut slot.channel
                    && channel.has_unsent()
                {
                    // A failure shows itself to the read.
                    channel.flush().ok();
                }
                self.readable(index, has_ended);
            }
        }
    }

    fn go_on_opening(&mut self, index: usize, now_ns: u64) {
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        let (Link::Opening { since_ns }, Some(channel)) = (slot.link, &mut slot.channel) else {
            return;
        };
        match channel.start() {
            Ok(Started::Waiting) => {}
            Err(fault) => self.cannot_open(index, fault, now_ns),
            Ok(Started::Ready) => {
                let now_ns = clock::now_ns();
                slot.link = Link::Open;
                self.has_opened = true;
                self.recorder.connections.opened += 1;
                self.recorder.connect_times.record(now_ns.saturating_sub(since_ns));
                let first = std::mem::take(&mut slot.first);
                if !first.is_empty() && channel.send(&first).is_err() {
                    return self.lose(index, Ended::Reset, now_ns);
                }
                self.was_tried();
                if self.source.is_open() || self.has_all(index) {
                    self.next(index, now_ns);
                }
            }
        }
    }

    /// A connection could not be opened: what it was to carry has failed.
    pub(super) fn cannot_open(&mut self, index: usize, fault: Fault, now_ns: u64) {
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        self.recorder.connections.failed(fault);
        self.hopeless += usize::from(slot.exchange.outstanding() > 0);
        let failure = match fault {
            Fault::Errno(name) => Failure::Connect(name),
            Fault::Tls => Failure::Tls,
        };
        let ended = Ended::GivenUp(failure);
        slot.exchange.end(ended, now_ns, &self.tools.check, &mut self.recorder);
        slot.first = Vec::new();
        slot.channel = None;
        slot.link = Link::Closed;
        slot.back_off(now_ns, false);
        self.was_tried();
    }

    /// One of the attempts ahead of the load is over; the loop goes on with the next.
    fn was_tried(&mut self) {
        if let Stage::Opening { next, under_way } = self.stage {
            self.stage = Stage::Opening { next, under_way: under_way.saturating_sub(1) };
        }
    }

    /// Reads what is there, and deals with what it means.
    pub(super) fn readable(&mut self, index: usize, has_ended: bool) {
        for _ in 0..READS_MAX {
            let Some(slot) = self.slots.get_mut(index).filter(|slot| slot.link == Link::Open)
            else {
                return;
            };
            let Some(channel) = &mut slot.channel else {
                return;
            };
            let (exchange, tools) = (&mut slot.exchange, &mut self.tools);
            let (recorder, was_asleep) = (&mut self.recorder, self.was_asleep);
            self.reads = self.reads.wrapping_add(1);
            let is_sampled = self.reads.is_multiple_of(PICKUP_EVERY);
            let asks_when = was_asleep || is_sampled;
            let before = exchange.outstanding();
            let (received, now_ns, taken) = with_buffer(|buffer| {
                let received = channel.receive(buffer, asks_when);
                let now_ns = clock::now_ns();
                let Ok(Received::Data(count, _)) = received else {
                    return (received, now_ns, Ok(None));
                };
                let arrived_ns = channel.arrived_ns(now_ns);
                // Being woken is not the server's time. Waiting for a busy thread is counted in,
                // and told apart.
                let at_ns = arrived_ns.filter(|_| was_asleep).unwrap_or(now_ns);
                recorder.received(count, at_ns, arrived_ns.filter(|_| is_sampled));
                let bytes = buffer.get(..count).unwrap_or_default();
                (received, now_ns, exchange.receive(bytes, at_ns, tools, recorder))
            });
            if exchange.outstanding() < before {
                slot.failures_in_row = 0;
            }
            match received {
                Ok(Received::Nothing) => return self.after_reply(index, now_ns),
                Ok(Received::End(announced)) => {
                    return self.lose(index, Ended::Orderly(announced), now_ns);
                }
                Err(_fault) => return self.lose(index, Ended::Reset, now_ns),
                Ok(Received::Data(_, more)) => {
                    match taken {
                        Err(failure) => return self.lose(index, Ended::GivenUp(failure), now_ns),
                        Ok(Some(Unmatched)) => return self.was_unmatched(index, now_ns),
                        Ok(None) => {}
                    }
                    if more || has_ended {
                        // The end is known to have come: it is read before anything is sent.
                        if self.has_all(index) && self.is_to_close(index) {
                            return self.finish_connection(index, now_ns);
                        }
                        continue;
                    }
                    return self.after_reply(index, now_ns);
                }
            }
        }
        self.again.push(index);
    }

    /// Everything that came is dealt with, and nothing more is known to wait.
    fn after_reply(&mut self, index: usize, now_ns: u64) {
        if self.is_to_close(index) {
            self.finish_connection(index, now_ns);
        } else if self.source.is_open() || self.has_all(index) {
            self.next(index, now_ns);
        }
    }

    fn has_all(&self, index: usize) -> bool {
        self.slots.get(index).is_some_and(|slot| slot.exchange.outstanding() == 0)
    }

    /// Whether the connection has carried its last request.
    fn is_to_close(&self, index: usize) -> bool {
        let Some(slot) = self.slots.get(index) else {
            return false;
        };
        let is_full = match self.plan.requests_per_connection {
            _ if !self.plan.keep_alive => true,
            Some(requests) => slot.exchange.handed() >= requests,
            None => false,
        };
        slot.exchange.closes()
            || (is_full && slot.exchange.outstanding() == 0 && slot.exchange.handed() > 0)
    }

    /// Closes a connection that has done its part.
    fn finish_connection(&mut self, index: usize, now_ns: u64) {
        let closes = self.slots.get(index).is_some_and(|slot| slot.exchange.closes());
        if closes {
            self.recorder.connections.closed_by_server += 1;
        } else {
            self.recorder.connections.closed_by_client += 1;
        }
        self.end_connection(index, Ended::Orderly(true), now_ns);
    }

    /// A connection broke off, or is given up.
    pub(super) fn lose(&mut self, index: usize, ended: Ended, now_ns: u64) {
        if matches!(ended, Ended::GivenUp(_)) {
            self.recorder.connections.closed_by_client += 1;
        } else {
            self.recorder.connections.closed_by_server += 1;
        }
        self.end_connection(index, ended, now_ns);
    }

    /// The server sent what nobody had asked for.
    fn was_unmatched(&mut self, index: usize, now_ns: u64) {
        self.recorder.connections.unmatched += 1;
        self.recorder.connections.closed_by_client += 1;
        self.end_connection(index, Ended::Orderly(true), now_ns);
    }

    fn end_connection(&mut self, index: usize, ended: Ended, now_ns: u64) {
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        let failed = slot.exchange.end(ended, now_ns, &self.tools.check, &mut self.recorder);
        slot.channel = None;
        slot.link = Link::Closed;
        // A server that cuts every connection is not asked again in a hot loop.
        if failed > 0 && ended != Ended::GivenUp(Failure::Timeout) {
            slot.back_off(now_ns, true);
        }
        self.next(index, now_ns);
    }
}
