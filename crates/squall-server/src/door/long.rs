//! Long answers on HTTP/1: follows, written without hyper.
//!
//! hyper keeps two buffers of 8 KiB and its own state for as long as an answer goes on.
//! When a reply turns out to be a follow, the connection takes its socket back from hyper,
//! drops that, and writes the follow by itself. The answer closes the connection.
//!
//! Limit: a peer that stops reading holds one chunk. Bytes that it sends are thrown away,
//! up to [`UNASKED_BYTES_MAX`].

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::SystemTime;

use bytes::{Buf, Bytes};
use http::Version;
use http::header::{CONNECTION, DATE};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::door::answer::Active;
use crate::door::reply::{Reply, ReplyBody, push_header, push_status};
use crate::door::socket::Socket;
use crate::follow::Follow;

/// Bytes that a peer may send behind the request for a follow.
const UNASKED_BYTES_MAX: usize = 1024 * 1024;

/// Room for a usual head, in bytes.
const HEAD_BYTES: usize = 512;

/// The end of a chunked body.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Where a follow waits for its connection to take it over from hyper.
#[derive(Clone, Default)]
pub(crate) struct Handover(Arc<Mutex<Option<Box<LongAnswer>>>>);

/// A follow that is to be written, with the head of its answer.
pub(crate) struct LongAnswer {
    follow: Box<Follow>,
    chunked: bool,
    /// What is left of the bytes that come next: the head, a chunk, the end.
    next: Bytes,
    ended: bool,
    unasked: usize,
    _active: Active,
}

impl Handover {
    /// Leaves a follow for the connection; gives every other reply back.
    pub(crate) fn offer(
        &self,
        reply: Reply,
        active: Active,
        version: Version,
    ) -> Option<(Reply, Active)> {
        let Reply { status, headers, body } = reply;
        let follow = match body {
            ReplyBody::Follow(follow) => follow,
            body => return Some((Reply { status, headers, body }, active)),
        };
        let chunked = version == Version::HTTP_11;
        let next = head(status, &headers, chunked);
        let long = LongAnswer { follow, chunked, next, ended: false, unasked: 0, _active: active };
        *self.lock() = Some(Box::new(long));
        None
    }

    /// Whether a follow waits to be taken over.
    pub(crate) fn is_offered(&self) -> bool {
        self.lock().is_some()
    }

    /// Takes what was left, if anything was.
    pub(crate) fn take(&self) -> Option<Box<LongAnswer>> {
        self.lock().take()
    }

    /// Never waited for: only the connection's own task uses it.
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Box<LongAnswer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LongAnswer {
    /// Writes the answer to its end, and closes the sending side. Also ends when the peer
    /// has gone.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        socket: &mut Socket,
    ) -> Poll<io::Result<()>> {
        loop {
            while self.next.has_remaining() {
                let written = ready!(socket.cork().poll_write_through(cx, &self.next))?;
                self.next.advance(written);
            }
            if self.ended {
                return Pin::new(&mut *socket).poll_shutdown(cx);
            }
            if self.poll_gone(cx, socket)?.is_ready() {
                return Poll::Ready(Ok(()));
            }
            self.next = match ready!(self.follow.poll_chunk(cx)) {
                Some(chunk) if self.chunked => chunk.coded(),
                Some(chunk) => chunk.plain(),
                None => {
                    self.ended = true;
                    Bytes::from_static(if self.chunked { LAST_CHUNK } else { b"" })
                }
            };
        }
    }

    /// Ready once the peer has closed its side, or sends without end.
    fn poll_gone(&mut self, cx: &mut Context<'_>, socket: &mut Socket) -> io::Result<Poll<()>> {
        let mut bin = [0_u8; 512];
        loop {
            let mut buffer = ReadBuf::new(&mut bin);
            match Pin::new(&mut *socket).poll_read(cx, &mut buffer) {
                Poll::Pending => return Ok(Poll::Pending),
                Poll::Ready(read) => read?,
            }
            self.unasked += buffer.filled().len();
            if buffer.filled().is_empty() || self.unasked > UNASKED_BYTES_MAX {
                return Ok(Poll::Ready(()));
            }
        }
    }
}

/// The head of an answer whose length is not known (RFC 9112).
fn head(status: http::StatusCode, headers: &http::HeaderMap, chunked: bool) -> Bytes {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    push_status(&mut head, if chunked { "1.1" } else { "1.0" }, status);
    for (name, value) in headers.iter().filter(|(name, _)| **name != CONNECTION) {
        push_header(&mut head, name.as_str(), value.as_bytes());
    }
    if chunked {
        push_header(&mut head, "transfer-encoding", b"chunked");
    }
    push_header(&mut head, CONNECTION.as_str(), b"close");
    push_header(&mut head, DATE.as_str(), httpdate::fmt_http_date(SystemTime::now()).as_bytes());
    head.extend_from_slice(b"\r\n");
    Bytes::from(head)
}
