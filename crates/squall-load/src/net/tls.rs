//! TLS over a socket: rustls, driven by hand.

use std::io::{ErrorKind, Read, Write};

use rustls::ClientConnection;

use super::socket::{Fault, Socket};
use crate::plan::TlsEndpoint;

/// Encrypted bytes read at once.
const CIPHER_BYTES: usize = 16 * 1024;

/// One TLS session.
#[derive(Debug)]
pub(super) struct TlsSession {
    connection: ClientConnection,
    /// Encrypted bytes that the kernel has not taken yet.
    unsent: Vec<u8>,
    /// Encrypted bytes that were read and not taken in yet: those from `held_at` on.
    held: Vec<u8>,
    held_at: usize,
    /// The peer has closed its sending side, with or without saying so.
    ended: bool,
}

/// What a read brought.
pub(super) enum TlsRead {
    Data(usize),
    Nothing,
    /// The end; `false` if the peer did not announce it, so that bytes may be missing.
    End(bool),
}

impl TlsSession {
    pub(super) fn new(endpoint: &TlsEndpoint) -> Result<Self, Fault> {
        let connection = ClientConnection::new(endpoint.config.clone(), endpoint.name.clone())
            .map_err(|_refused| Fault::Tls)?;
        Ok(Self { connection, unsent: Vec::new(), held: Vec::new(), held_at: 0, ended: false })
    }

    /// Takes part in the handshake, as far as it can be done now; `true` once it is over.
    pub(super) fn shake_hands(&mut self, socket: &mut Socket) -> Result<bool, Fault> {
        self.flush(socket)?;
        while self.connection.is_handshaking() {
            if !self.pull(socket)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether there are bytes that the kernel has not taken.
    pub(super) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty() || self.connection.wants_write()
    }

    /// Encrypts `bytes`; they are sent by [`flush`](Self::flush).
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let count = self.connection.writer().write(rest).map_err(|_closed| Fault::Tls)?;
            rest = rest.get(count..).unwrap_or_default();
            // The session buffers little; what it has encrypted makes room for more.
            let had = self.unsent.len();
            self.encrypt()?;
            if count == 0 && self.unsent.len() == had {
                return Err(Fault::Tls);
            }
        }
        Ok(())
    }

    fn encrypt(&mut self) -> Result<(), Fault> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut self.unsent).map_err(|_never| Fault::Tls)?;
        }
        Ok(())
    }

    /// Sends as much as the kernel takes.
    pub(super) fn flush(&mut self, socket: &Socket) -> Result<(), Fault> {
        loop {
            self.encrypt()?;
            if self.unsent.is_empty() {
                return Ok(());
            }
            let count = socket.send(&self.unsent)?;
            if count == 0 {
                return Ok(());
            }
            self.unsent.drain(..count);
        }
    }

    /// Reads decrypted bytes, as far as there are any.
    pub(super) fn read(
        &mut self,
        socket: &mut Socket,
        buffer: &mut [u8],
    ) -> Result<TlsRead, Fault> {
        loop {
            match self.connection.reader().read(buffer) {
                Ok(0) => return Ok(TlsRead::End(true)),
                Ok(count) => return Ok(TlsRead::Data(count)),
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    return Ok(TlsRead::End(false));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_broken) => return Err(Fault::Tls),
            }
            if self.ended {
                return Ok(TlsRead::End(false));
            }
            if !self.pull(socket)? {
                return Ok(TlsRead::Nothing);
            }
        }
    }

    /// Takes in encrypted bytes; `false` if there are none now. What they decrypt to has to be
    /// read before more is taken in: the session holds little of it.
    fn pull(&mut self, socket: &mut Socket) -> Result<bool, Fault> {
        if self.held_at == self.held.len() && !self.refill(socket)? {
            return Ok(false);
        }
        let mut rest = self.held.get(self.held_at..).unwrap_or_default();
        let is_end = rest.is_empty();
        // An empty read tells rustls that the peer is gone.
        let count = self.connection.read_tls(&mut rest).map_err(|_broken| Fault::Tls)?;
        if is_end {
            self.ended = true;
            let is_cut = self.connection.is_handshaking();
            return if is_cut { Err(Fault::Tls) } else { Ok(true) };
        }
        // Behind a farewell nothing is taken any more.
        self.held_at = if count == 0 { self.held.len() } else { self.held_at + count };
        if self.connection.process_new_packets().is_err() {
            // The alert says to the peer what was wrong; nobody waits for it.
            self.flush(socket).ok();
            return Err(Fault::Tls);
        }
        match self.flush(socket) {
            // What the peer said before it went is still read.
            Err(fault) if self.connection.is_handshaking() => Err(fault),
            _ => Ok(true),
        }
    }

    /// Reads encrypted bytes, none of them at the end; `false` if there are none now.
    fn refill(&mut self, socket: &mut Socket) -> Result<bool, Fault> {
        let mut cipher = [0; CIPHER_BYTES];
        // An idle session holds nothing.
        self.held = Vec::new();
        self.held_at = 0;
        let Some(count) = socket.receive(&mut cipher, true)? else {
            return Ok(false);
        };
        self.held.extend_from_slice(cipher.get(..count).unwrap_or_default());
        Ok(true)
    }
}
