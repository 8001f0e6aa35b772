//! The socket: a TCP stream that notes its progress, and closes without cutting an answer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;

use crate::door::cork::Cork;
use crate::door::quick::{Begins, Quick};
use crate::door::state::ConnectionState;

/// Bytes that are read and thrown away after the last answer, so that the kernel does not
/// reset the connection over them before the peer has read the answer.
const LINGER_BYTES_MAX: usize = 1024 * 1024;

/// Bytes of plain requests that are read at a time.
const QUICK_READ_BYTES: usize = 4 * 1024;

/// A TCP stream whose first bytes may have been read already.
pub(crate) struct Socket {
    half: OwnedReadHalf,
    cork: Cork,
    state: Arc<ConnectionState>,
    /// Bytes read ahead, to be read again.
    ahead: Vec<u8>,
    ended: bool,
    lingered: usize,
    shut: bool,
    /// Answers plain requests, until the first byte that is for hyper.
    quick: Option<Box<Quick>>,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, state: Arc<ConnectionState>) -> Self {
        let (half, sending) = stream.into_split();
        let cork = Cork::new(sending, Arc::clone(&state));
        Self {
            half,
            cork,
            state,
            ahead: Vec::new(),
            ended: false,
            lingered: 0,
            shut: false,
            quick: None,
        }
    }

    /// Answers plain requests without hyper, as long as nothing else comes.
    pub(crate) fn answer_quickly(&mut self, quick: Quick) {
        self.quick = Some(Box::new(quick));
    }

    /// Reads and answers plain requests until there is something for hyper, which is in
    /// `ahead` then, or the end.
    fn poll_quick(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(mut quick) = self.quick.take() else {
            return Poll::Ready(Ok(()));
        };
        let polled = self.poll_plain(cx, &mut quick);
        if matches!(polled, Poll::Pending) {
            self.quick = Some(quick);
        }
        polled
    }

    fn poll_plain(&mut self, cx: &mut Context<'_>, quick: &mut Quick) -> Poll<io::Result<()>> {
        loop {
            quick.tell_time();
            let mut used = 0;
            let begins = loop {
                match quick.look(&self.ahead[used..]) {
                    Begins::Plain(length) if !self.state.is_shutting_down() => {
                        match self.cork.poll_answer(cx, |out| quick.answer(out))? {
                            Poll::Ready(true) => self.state.pass_request(),
                            Poll::Ready(false) => break Begins::Other,
                            Poll::Pending => {
                                self.ahead.drain(..used);
                                return Poll::Pending;
                            }
                        }
                        used += length;
                    }
                    Begins::Plain(_) => break Begins::Other,
                    begins => break begins,
                }
            };
            self.ahead.drain(..used);
            if !self.ahead.is_empty() {
                self.state.received(); // A head has begun that is not whole.
            }
            if begins == Begins::Other || self.ended {
                return Poll::Ready(Ok(()));
            }
            ready!(self.poll_ahead(cx))?;
        }
    }

    /// Reads what has come into `ahead`.
    fn poll_ahead(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            self.ahead = Vec::new(); // An idle connection keeps no room.
        }
        let mut room = [0_u8; QUICK_READ_BYTES];
        let mut buffer = ReadBuf::new(&mut room);
        ready!(Pin::new(&mut self.half).poll_read(cx, &mut buffer))?;
        match buffer.filled() {
            [] => self.ended = true,
            bytes => {
                self.state.received();
                self.ahead.extend_from_slice(bytes);
            }
        }
        Poll::Ready(Ok(()))
    }

    pub(crate) fn reader(&mut self) -> &mut OwnedReadHalf {
        &mut self.half
    }

    pub(crate) fn cork(&self) -> &Cork {
        &self.cork
    }

    pub(crate) fn put_back(&mut self, bytes: Vec<u8>) {
        self.ahead = bytes;
    }

    pub(crate) fn state(&self) -> &Arc<ConnectionState> {
        &self.state
    }

    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut bin = [0_u8; 4096];
        while !self.ended && self.lingered < LINGER_BYTES_MAX {
            let mut buffer = ReadBuf::new(&mut bin);
            ready!(Pin::new(&mut self.half).poll_read(cx, &mut buffer))?;
            self.lingered += buffer.filled().len();
            self.ended = buffer.filled().is_empty();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // Who does not take answers is asked for no more requests: hyper would go on
        // answering, and keep the heads of answers without a body.
        if self.state.is_write_blocked() && !self.state.is_http2() {
            ready!(self.cork.poll_turn(cx))?;
        }
        ready!(self.poll_quick(cx))?;
        if !self.ahead.is_empty() {
            let taken = self.ahead.len().min(buffer.remaining());
            buffer.put_slice(&self.ahead[..taken]);
            self.ahead.drain(..taken);
            if self.ahead.is_empty() {
                self.ahead = Vec::new();
            }
            return Poll::Ready(Ok(()));
        }
        if !self.ended {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut self.half).poll_read(cx, buffer))?;
            if buffer.filled().len() > before {
                self.state.received();
                return Poll::Ready(Ok(()));
            }
            self.ended = buffer.remaining() > 0;
        }
        if self.ended && self.state.defers_end(cx.waker()) {
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.cork.poll_write(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.cork.poll_write(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes when it has handed over all it had; we send at the end of the turn.
        self.cork.note_flush();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.shut {
            ready!(self.cork.poll_shutdown(cx))?;
            self.shut = true;
        }
        if self.state.has_to_linger() { self.poll_discard(cx) } else { Poll::Ready(Ok(())) }
    }
}
