//! When bytes arrived, by the kernel's word.
//!
//! A thread that sleeps is woken some tens of microseconds after what it waits for has come,
//! and a busy one gets to it later still. Neither is the server's time, so the kernel is asked
//! to note when each segment arrives. It does so on the wall clock; what lies between that and
//! the clock of the run is looked at a few times a second, since the wall clock is steered.

use std::cell::{Cell, RefCell};
use std::io::IoSliceMut;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use rustix::time::{ClockId, clock_gettime};

use crate::host::clock;

const SECOND_NS: i64 = 1_000_000_000;

thread_local! {
    /// Wall clock less the clock of the run, in nanoseconds; zero until it is looked at.
    static AHEAD_NS: Cell<i64> = const { Cell::new(0) };
    /// Room for one time stamp.
    static CONTROL: RefCell<Vec<u8>> = RefCell::new(nix::cmsg_space!(TimeSpec));
}

/// Looks at both clocks. To be called by a thread before it reads, and a few times a second.
pub(crate) fn look_at_clocks() {
    // Of three looks the quickest counts: only a disturbance makes one slower.
    let looks = (0..3).map(|_| {
        let before_ns = clock::now_ns();
        let wall_ns = wall_ns();
        let after_ns = clock::now_ns();
        let between_ns = before_ns.midpoint(after_ns);
        (after_ns - before_ns, wall_ns - i64::try_from(between_ns).unwrap_or(i64::MAX))
    });
    if let Some((_, ahead_ns)) = looks.min() {
        AHEAD_NS.set(ahead_ns);
    }
}

/// Asks the kernel to note when bytes arrive; whether it will.
pub(super) fn ask_for(fd: &OwnedFd) -> bool {
    setsockopt(fd, sockopt::ReceiveTimestampns, &true).is_ok()
}

/// Reads, and says when the last of the bytes arrived, on the clock of the run, where that is
/// known.
pub(super) fn receive(fd: &OwnedFd, buffer: &mut [u8]) -> Result<(usize, Option<u64>), Errno> {
    CONTROL.with_borrow_mut(|control| {
        let mut parts = [IoSliceMut::new(buffer)];
        let (fd, flags) = (fd.as_raw_fd(), MsgFlags::empty());
        let message = recvmsg::<()>(fd, &mut parts, Some(control), flags)?;
        let arrived_ns = message.cmsgs().ok().and_then(|mut notes| {
            notes.find_map(|note| match note {
                ControlMessageOwned::ScmTimestampns(time) => run_ns(time),
                _ => None,
            })
        });
        Ok((message.bytes, arrived_ns))
    })
}

fn run_ns(time: TimeSpec) -> Option<u64> {
    u64::try_from(time.tv_sec() * SECOND_NS + time.tv_nsec() - AHEAD_NS.get()).ok()
}

fn wall_ns() -> i64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec * SECOND_NS + now.tv_nsec
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use squall_testkit::wait::{pause, wait_until};

    use super::*;

    #[test]
    fn bytes_that_waited_tell_when_they_arrived() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let receiver: OwnedFd = listener.accept().unwrap().0.into();
        assert!(ask_for(&receiver));
        look_at_clocks();
        // The kernel begins to note arrivals a little after it was first asked.
        let is_noted = wait_until(Duration::from_secs(10), || {
            let before_ns = clock::now_ns();
            sender.write_all(b"hello").unwrap();
            let after_ns = clock::now_ns();
            pause(Duration::from_millis(30));
            let (count, arrived_ns) = receive(&receiver, &mut [0; 16]).unwrap();
            assert_eq!(count, 5);
            // The two clocks are compared to within some microseconds; a millisecond is plenty.
            let slack_ns = 1_000_000;
            let expected = before_ns - slack_ns..after_ns + slack_ns;
            assert!(arrived_ns.is_none_or(|arrived_ns| expected.contains(&arrived_ns)));
            arrived_ns.is_some()
        });
        assert!(is_noted);
    }
}
