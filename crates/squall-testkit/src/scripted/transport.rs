//! One accepted socket, plain or under TLS, that never blocks.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use rustls::{ServerConfig, ServerConnection};

use super::arrival;
use super::clock::monotonic_ns;

/// A socket as it was accepted.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// Reads and writes what the kernel gives and takes at once.
#[derive(Debug)]
pub(super) struct Transport {
    socket: Socket,
    tls: Option<Box<ServerConnection>>,
    /// When what was read last arrived.
    arrived_at: u64,
}

impl Transport {
    pub(super) fn new(socket: Socket, tls: Option<&Arc<ServerConfig>>) -> io::Result<Self> {
        match &socket {
            Socket::Tcp(stream) => {
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                arrival::ask_for(stream)?;
            }
            Socket::Unix(stream) => stream.set_nonblocking(true)?,
        }
        let tls = tls.map(|config| ServerConnection::new(Arc::clone(config))).transpose();
        Ok(Self { socket, tls: tls.map_err(io::Error::other)?.map(Box::new), arrived_at: 0 })
    }

    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Unix(stream) => stream.as_fd(),
        }
    }

    /// Reads what there is: none if there is nothing yet, 0 bytes at the end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if let (None, Socket::Tcp(stream)) = (&self.tls, &self.socket) {
            let read = unless_blocked(retry(|| arrival::read(stream, buffer)))?;
            return Ok(read.map(|(count, arrived_at)| {
                self.arrived_at = arrived_at;
                count
            }));
        }
        self.arrived_at = monotonic_ns();
        let outcome = match &mut self.tls {
            None => retry(|| (&self.socket).read(buffer)),
            Some(tls) => read_tls(tls, &self.socket, buffer),
        };
        unless_blocked(outcome)
    }

    /// When what was read last arrived, or, where the kernel does not tell, was read.
    pub(super) fn arrived_at(&self) -> u64 {
        self.arrived_at
    }

    /// Takes some of `bytes`, from none to all of them.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            let written = unless_blocked(retry(|| (&self.socket).write(bytes)))?;
            return Ok(written.unwrap_or_default());
        };
        // Until the handshake is over, nothing can be encrypted for the client.
        let taken = if tls.is_handshaking() { 0 } else { tls.writer().write(bytes)? };
        flush_tls(tls, &self.socket)?;
        Ok(taken)
    }

    /// Whether the kernel has not taken everything that [`Transport::write`] took.
    pub(super) fn owes_bytes(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Whether the TLS handshake still has to be led by reading.
    pub(super) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Sends a FIN, under TLS behind a farewell.
    pub(super) fn half_close(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            flush_tls(tls, &self.socket)?;
        }
        match &self.socket {
            Socket::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Socket::Unix(stream) => stream.shutdown(Shutdown::Write),
        }
    }

    /// Closes with a RST.
    pub(super) fn reset(self) -> io::Result<()> {
        Ok(set_socket_linger(self.socket(), Some(Duration::ZERO))?)
    }
}

impl Read for &Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => { stream }.read(buffer),
            Socket::Unix(stream) => { stream }.read(buffer),
        }
    }
}

impl Write for &Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => { stream }.write(bytes),
            Socket::Unix(stream) => { stream }.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn read_tls(
    tls: &mut ServerConnection,
    mut socket: &Socket,
    buffer: &mut [u8],
) -> io::Result<usize> {
    loop {
        flush_tls(tls, socket)?;
        match tls.reader().read(buffer) {
            // The client may leave without a farewell, as many do.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            outcome => return outcome,
        }
        if retry(|| tls.read_tls(&mut socket))? == 0 && tls.is_handshaking() {
            return Ok(0);
        }
        if let Err(error) = tls.process_new_packets() {
            // The client is to learn why, if it still listens; the first failure counts.
            drop(flush_tls(tls, socket));
            return Err(io::Error::other(error));
        }
    }
}

fn flush_tls(tls: &mut ServerConnection, mut socket: &Socket) -> io::Result<()> {
    while tls.wants_write() {
        if unless_blocked(retry(|| tls.write_tls(&mut socket)))?.is_none() {
            break;
        }
    }
    Ok(())
}

fn retry<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

fn unless_blocked<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(done) => Ok(Some(done)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}
