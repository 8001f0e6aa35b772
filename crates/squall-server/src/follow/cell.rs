//! What others may tell a follower: its waker, and a few flags.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::task::Waker;

use futures_util::task::AtomicWaker;

const HEARTBEAT: u8 = 1;
const LEAVE: u8 = 2;
const NAMED: u8 = 4;

/// The side of a follower that timers, rings and the shutdown can reach.
#[derive(Debug, Default)]
pub(crate) struct FollowerCell {
    waker: AtomicWaker,
    flags: AtomicU8,
    /// When the follower has to reconnect, in ms of the hub's clock; zero for never.
    leave_at_ms: AtomicU64,
}

impl FollowerCell {
    pub(crate) fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    pub(crate) fn wake(&self) {
        self.waker.wake();
    }

    pub(crate) fn heartbeat_due(&self) {
        self.flags.fetch_or(HEARTBEAT, Ordering::AcqRel);
        self.wake();
    }

    /// A stream was made under the name that the follower waits for.
    pub(crate) fn named(&self) {
        self.flags.fetch_or(NAMED, Ordering::AcqRel);
        self.wake();
    }

    /// Whether that happened since it was asked last.
    pub(crate) fn take_named(&self) -> bool {
        self.flags.fetch_and(!NAMED, Ordering::AcqRel) & NAMED != 0
    }

    /// Asks the follower to end its answer so that its client connects again.
    pub(crate) fn leave(&self) {
        self.flags.fetch_or(LEAVE, Ordering::AcqRel);
        self.wake();
    }

    pub(crate) fn has_to_leave(&self) -> bool {
        self.flags.load(Ordering::Acquire) & LEAVE != 0
    }

    /// Whether a heartbeat is due; asks no second time.
    pub(crate) fn take_heartbeat(&self) -> bool {
        let due = self.flags.load(Ordering::Acquire) & HEARTBEAT != 0;
        if due {
            self.flags.fetch_and(!HEARTBEAT, Ordering::AcqRel);
        }
        due
    }

    pub(crate) fn set_leave_at_ms(&self, at: u64) {
        self.leave_at_ms.store(at, Ordering::Relaxed);
    }

    /// Asks the follower to leave once its time has come.
    pub(crate) fn leave_if_older(&self, now_ms: u64) {
        let at = self.leave_at_ms.load(Ordering::Relaxed);
        if at != 0 && at <= now_ms && !self.has_to_leave() {
            self.leave();
        }
    }
}
