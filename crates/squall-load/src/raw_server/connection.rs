//! One connection: read, count, owe, send.

use std::io::{self, ErrorKind, Read, Write};

use mio::net::TcpStream;

use super::reply::{REPLY, REPLY_KEEP_ALIVE, Replies};
use super::requests::Requests;

/// Bytes of one read: hundreds of pipelined requests.
const READ_BYTES: usize = 64 * 1024;
/// Reads in one turn. A client that sends without a pause must not keep others, or the end of
/// the server, waiting.
const READS_MAX: u32 = 16;

/// What all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    input: Vec<u8>,
    replies: Replies,
    replies_keep_alive: Replies,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            input: vec![0; READ_BYTES],
            replies: Replies::new(REPLY),
            replies_keep_alive: Replies::new(REPLY_KEEP_ALIVE),
        }
    }
}

/// What a connection waits for after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The next event.
    Wait,
    /// Another turn: it is not done, and no event will say so.
    Again,
    /// Nothing: it ended.
    End,
}

/// The server's side of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    requests: Requests,
    /// Bytes of replies to send before anything else is read.
    owed: usize,
    /// Events come when something changes, so a change must be remembered until it is dealt with.
    is_readable: bool,
    /// The client sends no more. Then a read is due until it returns the end.
    is_read_closed: bool,
    /// Ends once nothing is owed.
    is_ending: bool,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            requests: Requests::default(),
            owed: 0,
            is_readable: false,
            is_read_closed: false,
            is_ending: false,
        }
    }

    pub(super) fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Takes note that there is something to read, or that the client sends no more.
    pub(super) fn note_readable(&mut self, is_read_closed: bool) {
        self.is_readable = true;
        self.is_read_closed |= is_read_closed;
    }

    /// Reads and answers what there is, and adds to `requests`.
    pub(super) fn turn(&mut self, shared: &mut Shared, requests: &mut u64) -> Turn {
        for _ in 0..READS_MAX {
            match self.send(shared) {
                Ok(()) if self.is_ending => return Turn::End,
                Ok(()) if !self.is_readable => return Turn::Wait,
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Turn::Wait,
                Err(_) => return Turn::End,
            }
            match self.read(shared) {
                Ok(count) => *requests += u64::try_from(count).unwrap_or(u64::MAX),
                Err(_) => return Turn::End,
            }
        }
        Turn::Again
    }

    /// Sends all that is owed. While the client takes none of it, nothing is read either.
    fn send(&mut self, shared: &Shared) -> io::Result<()> {
        while self.owed > 0 {
            let next = self.replies(shared).next(self.owed);
            match self.stream.write(next) {
                Ok(written) => self.owed = self.owed.saturating_sub(written),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads once and returns how many requests that completed.
    fn read(&mut self, shared: &mut Shared) -> io::Result<usize> {
        let length = match self.stream.read(&mut shared.input) {
            Ok(0) => {
                self.is_ending = true;
                return Ok(0);
            }
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.is_readable = false;
                return Ok(0);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(0),
            Err(error) => return Err(error),
        };
        // A read that does not fill its buffer took all there was; what comes later makes a new
        // event (epoll(7)). This saves the read that would only say so.
        self.is_readable = self.is_read_closed || length == shared.input.len();
        let count = self.requests.count(shared.input.get(..length).unwrap_or_default());
        self.owed = self.owed.saturating_add(self.replies(shared).bytes(count));
        self.is_ending |= self.requests.is_ended();
        Ok(count)
    }

    fn replies<'a>(&self, shared: &'a Shared) -> &'a Replies {
        if self.requests.tells_keep_alive() { &shared.replies_keep_alive } else { &shared.replies }
    }
}
