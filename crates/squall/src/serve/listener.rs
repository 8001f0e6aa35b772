//! The listening socket.

use std::io;
use std::net::SocketAddr;

use anyhow::anyhow;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

use crate::exit::{Exit, Failure};

/// Connections that the kernel completes ahead of `accept`; it may allow fewer.
const BACKLOG: i32 = 4096;

/// Listens on `address`. Must be called within a runtime.
pub(super) fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    listen(address).map_err(|error| Failure::new(Exit::Other, sentence(address, error)))
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of a server that ended may linger; they must not keep the next one out.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket.into())
}

fn sentence(address: SocketAddr, error: io::Error) -> anyhow::Error {
    let port = address.port();
    match error.kind() {
        io::ErrorKind::AddrInUse => anyhow!(
            "cannot listen on {address}: another process does; \
             end it, or choose another port with --listen (port 0 takes a free one)"
        ),
        io::ErrorKind::AddrNotAvailable => {
            anyhow!("cannot listen on {address}: this machine does not have that address")
        }
        io::ErrorKind::PermissionDenied if port < 1024 => {
            anyhow!("cannot listen on {address}: ports below 1024 need a privilege")
        }
        _ => anyhow::Error::new(error).context(format!("cannot listen on {address}")),
    }
}
