//! When bytes arrived, by the kernel's word: a thread that slept reads them later.

use std::io::{self, IoSliceMut};
use std::net::TcpStream;
use std::os::fd::AsRawFd;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use rustix::time::{ClockId, clock_gettime};

use super::clock::monotonic_ns;

const NS_PER_S: i64 = 1_000_000_000;

/// Asks the kernel to note when bytes arrive.
pub(super) fn ask_for(stream: &TcpStream) -> io::Result<()> {
    Ok(setsockopt(stream, sockopt::ReceiveTimestampns, &true)?)
}

/// Reads, and says when the last of the bytes arrived, in ns of [`monotonic_ns`].
pub(super) fn read(stream: &TcpStream, buffer: &mut [u8]) -> io::Result<(usize, u64)> {
    let mut control = nix::cmsg_space!(TimeSpec);
    let mut parts = [IoSliceMut::new(buffer)];
    let (socket, flags) = (stream.as_raw_fd(), MsgFlags::empty());
    let message = recvmsg::<()>(socket, &mut parts, Some(&mut control), flags)?;
    // The kernel's note is on the wall clock.
    let (now, wall) = (monotonic_ns(), clock_gettime(ClockId::Realtime));
    let mut notes = message.cmsgs()?;
    let arrived = notes.find_map(|note| match note {
        ControlMessageOwned::ScmTimestampns(time) => Some(time),
        _ => None,
    });
    let waited = arrived
        .map_or(0, |time| (wall.tv_sec - time.tv_sec()) * NS_PER_S + wall.tv_nsec - time.tv_nsec());
    Ok((message.bytes, now.saturating_sub(u64::try_from(waited).unwrap_or(0))))
}
