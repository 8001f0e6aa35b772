//! One connection: requests in, bytes out, and the account of both.

use std::sync::Arc;

use rustix::event::PollFlags;

use super::clock::monotonic_ns;
use super::record::{ConnectionRecord, Ending, RequestRecord, SharedRecord};
use super::request::{ReadRequest, RequestQueue};
use super::stop::Stop;
use super::transport::Transport;

/// Bytes of one read.
const READ_BYTES_MAX: usize = 64 * 1024;

/// Reads of what nobody asked for, before a close.
const FORGOTTEN_READS_MAX: usize = 256;

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The socket had nothing.
    Nothing,
    /// Bytes, now in the queue.
    Bytes,
    /// The client will send no more.
    End,
}

/// What becomes of the bytes of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Nobody wants them.
    Dropped,
    /// They come with the request.
    Taken,
    /// They come with the request and stay in the record.
    Recorded,
}

/// A connection that is being served. An `Err` is how it ended.
#[derive(Debug)]
pub(super) struct Conversation {
    transport: Transport,
    pub(super) stop: Arc<Stop>,
    record: SharedRecord,
    content: Content,
    requests: RequestQueue,
    read_buffer: Vec<u8>,
}

impl Conversation {
    pub(super) fn new(
        transport: Transport,
        stop: Arc<Stop>,
        record: SharedRecord,
        content: Content,
    ) -> Self {
        let requests = RequestQueue::new(content != Content::Dropped);
        Self { transport, stop, record, content, requests, read_buffer: vec![0; READ_BYTES_MAX] }
    }

    /// Reads what the socket has, without waiting.
    pub(super) fn read(&mut self) -> Result<Arrival, Ending> {
        let (arrival, count) = self.fetch()?;
        if count > 0 {
            let bytes = self.read_buffer.get(..count).unwrap_or_default();
            self.requests.push(bytes, self.transport.arrived_at());
        }
        Ok(arrival)
    }

    /// Waits for what comes and forgets it.
    pub(super) fn discard(&mut self) -> Result<Arrival, Ending> {
        let (arrival, _) = self.fetch()?;
        if arrival == Arrival::Nothing {
            self.wait_readable(None)?;
        }
        Ok(arrival)
    }

    fn fetch(&mut self) -> Result<(Arrival, usize), Ending> {
        let count = match self.transport.read(&mut self.read_buffer)? {
            None => return Ok((Arrival::Nothing, 0)),
            Some(0) => return Ok((Arrival::End, 0)),
            Some(count) => count,
        };
        self.record.lock().bytes_read += bytes_u64(count);
        Ok((Arrival::Bytes, count))
    }

    /// Waits until the socket has something, or until `until`. May return early. To be called
    /// after [`Arrival::Nothing`] only: under TLS, bytes may wait where the kernel does not
    /// see them.
    pub(super) fn wait_readable(&self, until: Option<u64>) -> Result<(), Ending> {
        let owes = self.transport.owes_bytes();
        let flags = if owes { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        self.stop.wait(Some((self.transport.socket(), flags)), until)
    }

    /// Takes the oldest whole request and records it.
    pub(super) fn take(&mut self) -> Result<Option<ReadRequest>, Ending> {
        let taken = self.requests.take().map_err(Ending::Malformed)?;
        if let Some(request) = &taken {
            let is_recorded = self.content == Content::Recorded;
            let content = request.content.clone().filter(|_| is_recorded);
            let read_at = request.read_at;
            let recorded = RequestRecord { read_at, content, ..RequestRecord::default() };
            self.record.lock().read(recorded);
        }
        Ok(taken)
    }

    /// Waits for a whole request and takes it.
    pub(super) fn next(&mut self) -> Result<ReadRequest, Ending> {
        loop {
            if let Some(request) = self.take()? {
                return Ok(request);
            }
            match self.read()? {
                Arrival::Nothing => self.wait_readable(None)?,
                Arrival::Bytes => {}
                Arrival::End => return Err(Ending::ClientClosed),
            }
        }
    }

    /// Sends all of `bytes`. With the last of them `settle` changes the record, given the time
    /// just before; the client cannot have seen them while the record does not have them.
    pub(super) fn send(
        &mut self,
        bytes: &[u8],
        settle: impl FnOnce(&mut ConnectionRecord, u64),
    ) -> Result<(), Ending> {
        let mut rest = bytes;
        loop {
            if self.transport.is_handshaking() {
                self.lead_handshake()?;
            }
            // The lock is held over a write that does not block.
            let mut record = self.record.lock();
            let written_at = monotonic_ns();
            let count = self.transport.write(rest)?;
            record.bytes_sent += bytes_u64(count);
            rest = rest.get(count..).unwrap_or_default();
            if rest.is_empty() && !self.transport.owes_bytes() {
                settle(&mut record, written_at);
                return Ok(());
            }
            drop(record);
            self.stop.wait(Some((self.transport.socket(), PollFlags::OUT)), None)?;
        }
    }

    /// What the client sends may come with the end of its handshake, so it goes to the queue.
    fn lead_handshake(&mut self) -> Result<(), Ending> {
        while self.transport.is_handshaking() {
            match self.read()? {
                Arrival::Nothing if self.transport.is_handshaking() => self.wait_readable(None)?,
                Arrival::Nothing | Arrival::Bytes => {}
                Arrival::End => return Err(Ending::ClientClosed),
            }
        }
        Ok(())
    }

    /// Sends a FIN.
    pub(super) fn half_close(&mut self) -> Result<(), Ending> {
        Ok(self.transport.half_close()?)
    }

    /// Ends the connection in the way that `ending` says, and records it before the client can
    /// see it.
    pub(super) fn end(mut self, ending: Ending) {
        let is_close = ending == Ending::ScriptClosed;
        let is_reset = ending == Ending::ScriptReset;
        self.record.lock().ended(ending, monotonic_ns());
        // The client may be gone already, which is as good.
        if is_close {
            drop(self.half_close());
            for _ in 0..FORGOTTEN_READS_MAX {
                if !self.transport.read(&mut self.read_buffer).is_ok_and(|read| read > Some(0)) {
                    break;
                }
            }
        } else if is_reset {
            drop(self.transport.reset());
        }
    }
}

fn bytes_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
