//! A connection as its user sees it: bytes in, bytes out, plain or encrypted.

use std::os::fd::AsRawFd;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};

use super::socket::{Fault, Socket};
use super::tls::{TlsRead, TlsSession};
use crate::plan::{Address, Endpoint};

/// A connection, perhaps one that is still being made.
#[derive(Debug)]
pub(crate) struct Channel {
    socket: Socket,
    tls: Option<Box<TlsSession>>,
    stands: bool,
    /// Bytes of a request that the kernel has not taken yet.
    unsent: Vec<u8>,
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// So many bytes; `true` if there may be more, so that nobody would tell about them.
    Data(usize, bool),
    /// Nothing now.
    Nothing,
    /// The peer has closed its sending side; `false` if it should have said so and did not.
    End(bool),
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Started {
    /// Requests can be sent.
    Ready,
    /// Not yet.
    Waiting,
}

/// Whether everything was handed to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// Everything.
    Whole,
    /// The rest is kept, and sent when the peer takes more.
    Part,
}

impl Channel {
    /// Begins to connect, and asks for everything that `token` is to hear of: once, since
    /// events are edges and there is nothing to change later.
    pub(crate) fn open(
        endpoint: &Endpoint,
        address: &Address,
        receive_bytes: Option<usize>,
        registry: &Registry,
        token: Token,
    ) -> Result<Self, Fault> {
        let (socket, stands) = Socket::connect(address, receive_bytes)?;
        let interest = Interest::READABLE | Interest::WRITABLE;
        registry.register(&mut SourceFd(&socket.as_raw_fd()), token, interest)?;
        let tls = endpoint.tls.as_ref().map(TlsSession::new).transpose()?.map(Box::new);
        Ok(Self { socket, tls, stands, unsent: Vec::new() })
    }

    /// Goes on connecting, as far as it can be done now.
    pub(crate) fn start(&mut self) -> Result<Started, Fault> {
        if !self.stands {
            if self.socket.has_connected()?.is_none() {
                return Ok(Started::Waiting);
            }
            self.stands = true;
        }
        let is_ready = match &mut self.tls {
            Some(tls) => tls.shake_hands(&mut self.socket)?,
            None => true,
        };
        Ok(if is_ready { Started::Ready } else { Started::Waiting })
    }

    /// Sends `bytes`, and keeps what the kernel does not take.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<Written, Fault> {
        if let Some(tls) = &mut self.tls {
            tls.write(bytes)?;
            return self.flush();
        }
        if !self.unsent.is_empty() {
            self.unsent.extend_from_slice(bytes);
            return self.flush();
        }
        let count = self.socket.send(bytes)?;
        match bytes.get(count..) {
            Some([]) | None => Ok(Written::Whole),
            Some(rest) => {
                self.unsent.extend_from_slice(rest);
                Ok(Written::Part)
            }
        }
    }

    /// Sends what was kept.
    pub(crate) fn flush(&mut self) -> Result<Written, Fault> {
        if let Some(tls) = &mut self.tls {
            tls.flush(&self.socket)?;
            return Ok(if tls.has_unsent() { Written::Part } else { Written::Whole });
        }
        if !self.unsent.is_empty() {
            let count = self.socket.send(&self.unsent)?;
            self.unsent.drain(..count);
        }
        if self.unsent.is_empty() {
            // A request of some megabytes must not be held for the rest of the run.
            self.unsent = Vec::new();
            return Ok(Written::Whole);
        }
        Ok(Written::Part)
    }

    /// When the bytes that were read last arrived: before `now_ns`. `None` if it is not known.
    pub(crate) fn arrived_ns(&self, now_ns: u64) -> Option<u64> {
        self.socket.arrived_ns(now_ns)
    }

    /// Whether bytes wait for the kernel to take them.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty() || self.tls.as_ref().is_some_and(|tls| tls.has_unsent())
    }

    /// Reads once; with `asks_when` it is known afterwards when that arrived.
    pub(crate) fn receive(
        &mut self,
        buffer: &mut [u8],
        asks_when: bool,
    ) -> Result<Received, Fault> {
        if let Some(tls) = &mut self.tls {
            return Ok(match tls.read(&mut self.socket, buffer)? {
                TlsRead::Data(count) => Received::Data(count, true),
                TlsRead::Nothing => Received::Nothing,
                TlsRead::End(announced) => Received::End(announced),
            });
        }
        Ok(match self.socket.receive(buffer, asks_when)? {
            None => Received::Nothing,
            Some(0) => Received::End(true),
            // A read that did not fill the buffer has emptied the socket; what comes later is
            // a new edge.
            Some(count) => Received::Data(count, count == buffer.len()),
        })
    }
}
