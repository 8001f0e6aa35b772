//! The end of the server, and the waits that it cuts short.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;

use super::clock::{duration_ns, monotonic_ns, timespec};
use super::record::Ending;

/// The last stretch of a wait that spins instead of sleeping: the kernel wakes a thread some
/// 50 µs late, and a service time of 200 µs shall be kept better than that.
pub(super) const SPIN_NS_MAX: u64 = 80_000;

/// Rings once. Every wait of every thread looks at it, so none outlives the server.
#[derive(Debug)]
pub(super) struct Stop {
    /// Readable for ever once rung: nobody reads it.
    event: OwnedFd,
    is_rung: AtomicBool,
}

impl Stop {
    pub(super) fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { event, is_rung: AtomicBool::new(false) })
    }

    pub(super) fn ring(&self) -> io::Result<()> {
        self.is_rung.store(true, Ordering::Relaxed);
        rustix::io::write(&self.event, &1_u64.to_ne_bytes())?;
        Ok(())
    }

    /// Waits until `socket` has what is asked of it, or until `until`, in ns of the clock. May
    /// return early.
    pub(super) fn wait(
        &self,
        socket: Option<(BorrowedFd<'_>, PollFlags)>,
        until: Option<u64>,
    ) -> Result<(), Ending> {
        let timeout = until.map(|until| timespec(until.saturating_sub(monotonic_ns())));
        // Without a socket, the event takes its place too.
        let (socket, flags) = socket.unwrap_or((self.event.as_fd(), PollFlags::IN));
        let stop = PollFd::new(&self.event, PollFlags::IN);
        let mut watched = [stop, PollFd::from_borrowed_fd(socket, flags)];
        match poll(&mut watched, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
        let [stop, _] = watched;
        if stop.revents().is_empty() { Ok(()) } else { Err(Ending::Stopped) }
    }

    /// Lets `duration` pass, to the microsecond where the machine allows.
    pub(super) fn pause(&self, duration: Duration) -> Result<(), Ending> {
        let until = monotonic_ns().saturating_add(duration_ns(duration));
        let sleep_until = until.saturating_sub(SPIN_NS_MAX);
        while monotonic_ns() < sleep_until {
            self.wait(None, Some(sleep_until))?;
        }
        while monotonic_ns() < until {
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// Fails once the server stops: for loops that may never have to wait.
    pub(super) fn check(&self) -> Result<(), Ending> {
        if self.is_rung.load(Ordering::Relaxed) { Err(Ending::Stopped) } else { Ok(()) }
    }
}
