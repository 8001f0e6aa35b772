//! A non-blocking stream socket.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use socket2::{Domain, Protocol, SockAddr, Type};

use super::arrival;
use crate::host::errno;
use crate::plan::Address;

/// Why a socket cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The kernel's name for it.
    Errno(&'static str),
    /// The peers do not agree on TLS.
    Tls,
}

impl Fault {
    /// The name under which it is counted.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Errno(name) => name,
            Self::Tls => "TLS",
        }
    }
}

impl From<Errno> for Fault {
    fn from(number: Errno) -> Self {
        Self::Errno(errno::name(number.raw_os_error()))
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Errno(error.raw_os_error().map_or("EIO", errno::name))
    }
}

/// A non-blocking stream socket.
#[derive(Debug)]
pub(crate) struct Socket {
    fd: OwnedFd,
    /// The kernel notes when bytes arrive.
    is_stamped: bool,
    /// When the bytes that were read last arrived, where that is known.
    arrived_ns: Option<u64>,
}

impl Socket {
    /// Begins to connect; `true` if the connection stands at once. `receive_bytes` makes the
    /// receive buffer small, for a peer that is to be slow.
    pub(crate) fn connect(
        address: &Address,
        receive_bytes: Option<usize>,
    ) -> Result<(Self, bool), Fault> {
        let (domain, protocol, peer) = match address {
            Address::Tcp(peer) => {
                (Domain::for_address(*peer), Some(Protocol::TCP), SockAddr::from(*peer))
            }
            Address::Unix(path) => (Domain::UNIX, None, SockAddr::unix(path)?),
        };
        let socket = socket2::Socket::new(domain, Type::STREAM.nonblocking(), protocol)?;
        if protocol.is_some() {
            socket.set_tcp_nodelay(true)?;
        }
        if let Some(bytes) = receive_bytes {
            socket.set_recv_buffer_size(bytes)?;
        }
        let stands = match socket.connect(&peer) {
            Ok(()) => true,
            Err(error) if error.raw_os_error() == Some(Errno::INPROGRESS.raw_os_error()) => false,
            Err(error) => return Err(error.into()),
        };
        let fd = OwnedFd::from(socket);
        let is_stamped = protocol.is_some() && arrival::ask_for(&fd);
        Ok((Self { fd, is_stamped, arrived_ns: None }, stands))
    }

    /// Whether the connection stands by now; `None` while it is being made.
    pub(crate) fn has_connected(&self) -> Result<Option<()>, Fault> {
        let socket = socket2::SockRef::from(&self.fd);
        if let Some(error) = socket.take_error()? {
            return Err(error.into());
        }
        match socket.peer_addr() {
            Ok(_) => Ok(Some(())),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads what is there; `None` if nothing is, zero at the end. With `asks_when` it also
    /// learns when that arrived, which costs a tenth more.
    pub(crate) fn receive(
        &mut self,
        buffer: &mut [u8],
        asks_when: bool,
    ) -> Result<Option<usize>, Fault> {
        self.arrived_ns = None;
        while self.is_stamped && asks_when {
            match arrival::receive(&self.fd, buffer) {
                Ok((count, arrived_ns)) => {
                    self.arrived_ns = arrived_ns;
                    return Ok(Some(count));
                }
                Err(nix::errno::Errno::EAGAIN) => return Ok(None),
                Err(nix::errno::Errno::EINTR) => {}
                Err(number) => return Err(Fault::Errno(errno::name(number as i32))),
            }
        }
        loop {
            match rustix::net::recv(&self.fd, &mut *buffer, RecvFlags::empty()) {
                Ok((count, _)) => return Ok(Some(count)),
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(number) => return Err(number.into()),
            }
        }
    }

    /// When the bytes that were read last arrived: before `now_ns`. `None` if it is not known.
    pub(crate) fn arrived_ns(&self, now_ns: u64) -> Option<u64> {
        self.arrived_ns.map(|arrived_ns| arrived_ns.min(now_ns))
    }

    /// Writes what the kernel takes now, perhaps nothing.
    pub(crate) fn send(&self, bytes: &[u8]) -> Result<usize, Fault> {
        loop {
            match rustix::net::send(&self.fd, bytes, SendFlags::NOSIGNAL) {
                Ok(count) => return Ok(count),
                Err(Errno::AGAIN) => return Ok(0),
                Err(Errno::INTR) => {}
                Err(number) => return Err(number.into()),
            }
        }
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
