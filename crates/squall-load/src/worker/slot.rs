//! A place for one connection after the other.

use crate::exchange::Exchange;
use crate::net::Channel;

const MILLISECOND_NS: u64 = 1_000_000;

/// Wait before a connection is tried again, after one failure; it doubles with every further one.
const BACKOFF_MIN_NS: u64 = 10 * MILLISECOND_NS;

/// Longest wait before a connection is tried again.
const BACKOFF_MAX_NS: u64 = 1_000 * MILLISECOND_NS;

/// How far the connection of a slot has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Link {
    /// There is none.
    #[default]
    Closed,
    /// It is being made since then.
    Opening { since_ns: u64 },
    /// Requests can be sent.
    Open,
}

/// A place for one connection after the other.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) channel: Option<Box<Channel>>,
    pub(super) link: Link,
    pub(super) exchange: Exchange,
    /// Requests handed over before the connection stood.
    pub(super) first: Vec<u8>,
    /// Before this moment it is not connected again.
    pub(super) retry_ns: u64,
    pub(super) failures_in_row: u32,
    /// Which of the slot's connections this is.
    pub(super) generation: u32,
    /// The number of the next stamp.
    pub(super) stamp_sequence: u32,
    /// It stands in the line of those that can take a request.
    pub(super) is_free: bool,
}

impl Slot {
    /// Notes a failure; the next attempt has to wait, unless it was the first and `at_once`.
    pub(super) fn back_off(&mut self, now_ns: u64, at_once: bool) {
        self.failures_in_row = self.failures_in_row.saturating_add(1);
        let doublings = self.failures_in_row.saturating_sub(1).min(16);
        let wait_ns = (BACKOFF_MIN_NS << doublings).min(BACKOFF_MAX_NS);
        let wait_ns = if at_once && self.failures_in_row == 1 { 0 } else { wait_ns };
        self.retry_ns = now_ns + wait_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_get_rarer_up_to_one_a_second() {
        let mut slot = Slot::default();
        let waits: Vec<u64> = (0..9)
            .map(|_| {
                slot.back_off(0, false);
                slot.retry_ns / MILLISECOND_NS
            })
            .collect();
        assert_eq!(waits, [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]);
        slot.failures_in_row = 0;
        slot.back_off(0, true);
        assert_eq!(slot.retry_ns, 0);
        slot.back_off(0, true);
        assert_eq!(slot.retry_ns, 20 * MILLISECOND_NS);
    }
}
