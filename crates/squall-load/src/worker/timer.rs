//! A timer that wakes the loop at a moment, to the precision of the kernel's clock.
//!
//! The poll itself could only wait for whole milliseconds.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use mio::unix::SourceFd;
use mio::{Interest, Registry};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::token::TIMER;

const SECOND_NS: u64 = 1_000_000_000;

/// A timer of one loop.
#[derive(Debug)]
pub(crate) struct Timer {
    fd: OwnedFd,
    /// When it will go off; zero if it has, or was never set.
    armed_ns: u64,
}

impl Timer {
    pub(crate) fn new(registry: &Registry) -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        registry.register(&mut SourceFd(&fd.as_raw_fd()), TIMER, Interest::READABLE)?;
        Ok(Self { fd, armed_ns: 0 })
    }

    /// Sees to it that the loop is awake at `at_ns`. An earlier moment that is already set is
    /// left: waking for nothing is cheaper than setting the timer every turn.
    pub(crate) fn wake_at(&mut self, at_ns: u64, now_ns: u64) -> io::Result<()> {
        if self.armed_ns > now_ns && self.armed_ns <= at_ns {
            return Ok(());
        }
        let seconds = i64::try_from(at_ns / SECOND_NS).unwrap_or(i64::MAX);
        let nanos = i64::try_from(at_ns % SECOND_NS).unwrap_or(0);
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let value = Timespec { tv_sec: seconds, tv_nsec: nanos };
        let setting = Itimerspec { it_interval: zero, it_value: value };
        timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &setting)?;
        self.armed_ns = at_ns;
        Ok(())
    }
}
