//! What a server did, in the order in which it did it.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Requests of one connection that are recorded one by one. Those beyond are only counted.
const REQUESTS_RECORDED_MAX: usize = 2_000_000;

/// What a server did so far. All times are ns of [`monotonic_ns`](super::monotonic_ns).
///
/// It is never behind what a client has seen: once a whole reply, a FIN or a reset reached the
/// client, it is in here. What the client did, such as closing, comes in a moment later.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// In the order of accept.
    pub connections: Vec<ConnectionRecord>,
}

/// What happened on one connection.
#[derive(Clone, Debug, Default)]
pub struct ConnectionRecord {
    /// When it was accepted.
    pub accepted_at: u64,
    /// Whole requests that were read; in a script, those that a step waited for.
    pub requests_read: u64,
    /// Requests that were replied to; see [`RequestRecord::replied_at`].
    pub replies_sent: u64,
    /// Bytes that came; under TLS, decrypted ones.
    pub bytes_read: u64,
    /// Bytes that were handed to the kernel; under TLS, before their encryption.
    pub bytes_sent: u64,
    /// The requests, oldest first: the first two million, those beyond are only counted.
    pub requests: Vec<RequestRecord>,
    /// How it ended; none while it is open.
    pub ending: Option<Ending>,
    /// When it ended.
    pub ended_at: Option<u64>,
}

/// One request.
#[derive(Clone, Debug, Default)]
pub struct RequestRecord {
    /// When its last byte arrived, by the note of the kernel; under TLS and on Unix sockets when
    /// it was read.
    pub read_at: u64,
    /// Of a service: when its reply was to leave, pauses included.
    pub due_at: Option<u64>,
    /// When the last bytes of its reply were being handed to the kernel, so never after the
    /// client saw them. In a script, the first step that sends anything counts as the reply to
    /// every request before it, whatever the bytes mean.
    pub replied_at: Option<u64>,
    /// Its bytes, if they are kept.
    pub content: Option<Box<RequestContent>>,
}

/// The bytes of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestContent {
    /// From the request line to the blank line.
    pub head: Vec<u8>,
    /// The body, without its chunks.
    pub body: Vec<u8>,
}

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The client closed it in good order, perhaps in mid-request.
    ClientClosed,
    /// The client reset it, or was gone when something was sent.
    ClientReset,
    /// A script closed it.
    ScriptClosed,
    /// A script reset it.
    ScriptReset,
    /// The server stopped.
    Stopped,
    /// What came was no request.
    Malformed(&'static str),
    /// Something else failed, such as a TLS handshake.
    Failed(String),
}

impl Record {
    /// Connections that were accepted.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.connections.len()
    }

    /// Whole requests that were read on all connections.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.connections.iter().map(|connection| connection.requests_read).sum()
    }

    /// Requests that were replied to on all connections.
    #[must_use]
    pub fn replies(&self) -> u64 {
        self.connections.iter().map(|connection| connection.replies_sent).sum()
    }

    /// Connections that have not ended.
    #[must_use]
    pub fn open(&self) -> usize {
        self.connections.iter().filter(|connection| connection.ending.is_none()).count()
    }
}

impl RequestContent {
    /// The head as text, for a test to search.
    #[must_use]
    pub fn head_text(&self) -> String {
        String::from_utf8_lossy(&self.head).into_owned()
    }
}

impl From<io::Error> for Ending {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => Self::ClientReset,
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl ConnectionRecord {
    pub(super) fn read(&mut self, request: RequestRecord) {
        self.requests_read += 1;
        if self.requests.len() < REQUESTS_RECORDED_MAX {
            self.requests.push(request);
        }
    }

    /// Marks the oldest request without a reply.
    pub(super) fn replied(&mut self, due_at: Option<u64>, replied_at: u64) {
        let index = usize::try_from(self.replies_sent).unwrap_or(usize::MAX);
        self.replies_sent += 1;
        if let Some(request) = self.requests.get_mut(index) {
            request.due_at = due_at;
            request.replied_at = Some(replied_at);
        }
    }

    /// Marks every request without a reply.
    pub(super) fn replied_to_all(&mut self, replied_at: u64) {
        while self.replies_sent < self.requests_read {
            self.replied(None, replied_at);
        }
    }

    pub(super) fn ended(&mut self, ending: Ending, ended_at: u64) {
        self.ending.get_or_insert(ending);
        self.ended_at.get_or_insert(ended_at);
    }
}

/// The record of one connection, as its thread writes it and a test reads it. No one holds the
/// lock over anything that may block.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedRecord(Arc<Mutex<ConnectionRecord>>);

impl SharedRecord {
    pub(super) fn accepted(accepted_at: u64) -> Self {
        let record = ConnectionRecord { accepted_at, ..ConnectionRecord::default() };
        Self(Arc::new(Mutex::new(record)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ConnectionRecord> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
