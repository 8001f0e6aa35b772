//! The cork: what a connection answers in one turn leaves in one write.
//!
//! hyper can gather the answers to pipelined requests itself (`pipeline_flush`), but it
//! then writes nothing while more is waiting to be read. Answers are held up by a later
//! request that waits, are lost in front of bytes that are no request, and pile up without
//! a limit for a peer that asks and does not read. Here hyper writes each answer when it
//! is made, and [`Cork::poll_turn`] passes on what has gathered once hyper has nothing
//! more to say.
//!
//! Limit: [`GATHERED_BYTES_MAX`] of a connection, held only until the kernel takes it.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;
use tokio::net::tcp::OwnedWriteHalf;

use crate::door::state::ConnectionState;

/// Bytes that are gathered; larger writes go straight to the kernel.
const GATHERED_BYTES_MAX: usize = 32 * 1024;

/// Room that is made for the first bytes of a turn.
const GATHERED_BYTES_MIN: usize = 1024;

/// The sending side of a connection, shared by hyper's socket and the connection's task.
#[derive(Clone, Debug)]
pub(crate) struct Cork(Arc<Mutex<Sending>>);

#[derive(Debug)]
struct Sending {
    half: OwnedWriteHalf,
    state: Arc<ConnectionState>,
    gathered: Vec<u8>,
    /// How many of the gathered bytes the kernel has taken.
    taken: usize,
    /// hyper has bytes that were not taken from it.
    refused: bool,
}

impl Cork {
    pub(crate) fn new(half: OwnedWriteHalf, state: Arc<ConnectionState>) -> Self {
        let sending = Sending { half, state, gathered: Vec::new(), taken: 0, refused: false };
        Self(Arc::new(Mutex::new(sending)))
    }

    /// Gathers bytes, or sends them if they are many.
    pub(crate) fn poll_write(
        &self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut sending = self.lock();
        let count = slices.iter().map(|slice| slice.len()).sum();
        sending.refused = true;
        if sending.left() + count > GATHERED_BYTES_MAX {
            ready!(sending.poll_send(cx))?;
        }
        // HTTP/2 gathers by itself.
        if count > GATHERED_BYTES_MAX || sending.state.is_http2() {
            return sending.poll_write(cx, slices);
        }
        sending.gather(slices, count);
        Poll::Ready(Ok(count))
    }

    /// hyper has handed over all that it had.
    pub(crate) fn note_flush(&self) {
        self.lock().refused = false;
    }

    /// Whether hyper may still have bytes of an answer.
    pub(crate) fn is_behind_hyper(&self) -> bool {
        self.lock().refused
    }

    /// Makes room for an answer, then lets `answer` append it. Returns what that returns.
    pub(crate) fn poll_answer(
        &self,
        cx: &mut Context<'_>,
        answer: impl FnOnce(&mut Vec<u8>) -> bool,
    ) -> Poll<io::Result<bool>> {
        let mut sending = self.lock();
        if sending.left() > GATHERED_BYTES_MAX {
            ready!(sending.poll_send(cx))?;
        }
        sending.make_room(GATHERED_BYTES_MIN);
        Poll::Ready(Ok(answer(&mut sending.gathered)))
    }

    /// Sends what has gathered, then these bytes, without gathering them.
    pub(crate) fn poll_write_through(
        &self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut sending = self.lock();
        ready!(sending.poll_send(cx))?;
        sending.poll_write(cx, &[IoSlice::new(bytes)])
    }

    /// Sends what has gathered; at the end of a turn of the connection's task.
    pub(crate) fn poll_turn(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.lock().poll_send(cx)
    }

    /// Sends what has gathered, and ends the sending side.
    pub(crate) fn poll_shutdown(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut sending = self.lock();
        ready!(sending.poll_send(cx))?;
        Pin::new(&mut sending.half).poll_shutdown(cx)
    }

    /// Never waited for: only the connection's own task uses it.
    fn lock(&self) -> MutexGuard<'_, Sending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sending {
    fn left(&self) -> usize {
        self.gathered.len() - self.taken
    }

    fn gather(&mut self, slices: &[IoSlice<'_>], count: usize) {
        self.make_room(count.max(GATHERED_BYTES_MIN));
        slices.iter().for_each(|slice| self.gathered.extend_from_slice(slice));
    }

    /// Forgets what the kernel has taken, and makes room for the first bytes of a turn.
    fn make_room(&mut self, bytes: usize) {
        if self.taken >= GATHERED_BYTES_MAX {
            self.gathered.drain(..self.taken);
            self.taken = 0;
        }
        if self.gathered.capacity() == 0 {
            self.gathered.reserve(bytes);
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.left() > 0 {
            let bytes = &self.gathered[self.taken..];
            let written = Pin::new(&mut self.half).poll_write(cx, bytes);
            self.taken += match ready!(self.note(written))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => count,
            };
        }
        // An idle connection keeps no room.
        self.gathered = Vec::new();
        self.taken = 0;
        Poll::Ready(Ok(()))
    }

    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.half).poll_write_vectored(cx, slices);
        self.note(written)
    }

    fn note(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(_)) => self.state.wrote(),
            Poll::Pending => self.state.write_blocked(),
            Poll::Ready(Err(_)) => {}
        }
        written
    }
}
