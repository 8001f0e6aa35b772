//! Addresses at which nobody can be reached.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, bind, listen, socket};

/// Connections with which a backlog of 0 is filled; Linux takes one.
const QUEUED_MAX: usize = 8;
/// A connection that takes longer than this, on the same machine, found no place.
const CONNECT_MAX: Duration = Duration::from_millis(100);

/// A server that listens and accepts nothing, with a full backlog: a SYN gets no answer.
#[derive(Debug)]
pub struct DeafServer {
    address: SocketAddr,
    /// What fills the backlog.
    _queued: Vec<TcpStream>,
    _listener: TcpListener,
}

/// A port of 127.0.0.1 that refuses connections, and that nobody else can take meanwhile.
#[derive(Debug)]
pub struct ClosedPort {
    address: SocketAddr,
    /// Bound, but it does not listen.
    _socket: TcpListener,
}

impl DeafServer {
    pub(super) fn start() -> io::Result<Self> {
        let bound = bind_any()?;
        listen(&bound, 0)?;
        let listener = TcpListener::from(bound);
        let address = listener.local_addr()?;
        let mut queued = Vec::new();
        while queued.len() < QUEUED_MAX {
            match TcpStream::connect_timeout(&address, CONNECT_MAX) {
                Ok(stream) => queued.push(stream),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => break,
                Err(error) => return Err(error),
            }
        }
        Ok(Self { address, _queued: queued, _listener: listener })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of `target`, which begins with a slash.
    #[must_use]
    pub fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }
}

impl ClosedPort {
    /// The address that refuses.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of `target`, which begins with a slash.
    #[must_use]
    pub fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }
}

/// Takes a port that refuses connections.
///
/// # Panics
/// If the operating system has none.
#[must_use]
pub fn closed_port() -> ClosedPort {
    let socket = bind_any().map(TcpListener::from);
    let closed =
        socket.and_then(|socket| Ok(ClosedPort { address: socket.local_addr()?, _socket: socket }));
    closed.unwrap_or_else(|error| panic!("cannot take a port: {error}"))
}

fn bind_any() -> io::Result<OwnedFd> {
    let bound = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    bind(&bound, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
    Ok(bound)
}
