//! A request as routes see it, and the reading of its body within limits.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::future::poll_fn;
use http::{HeaderMap, Method, Uri, Version};
use http_body::{Body as _, Frame};
use hyper::body::Incoming;

use crate::door::state::ConnectionState;

/// A body shorter than this is copied out of the read buffer, which it would pin.
const COPIED_BYTES_MAX: usize = 4096;

/// The head of a request, to look at.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) version: Version,
    pub(crate) headers: &'a HeaderMap,
}

/// A request whose head is whole.
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) version: Version,
    pub(crate) headers: HeaderMap,
    pub(crate) body: RequestBody,
}

/// A body that may still be on its way.
pub(crate) struct RequestBody {
    incoming: Incoming,
    connection: Arc<ConnectionState>,
}

/// Bytes of request bodies that are in memory, of all requests together.
#[derive(Debug)]
pub(crate) struct InFlight {
    bytes: AtomicUsize,
    bytes_max: usize,
}

/// A share of [`InFlight`], given back when dropped.
#[derive(Debug)]
pub(crate) struct BodyPermit {
    in_flight: Arc<InFlight>,
    bytes: usize,
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// Larger than a request body may be.
    TooLarge,
    /// All bodies together are larger than they may be.
    Busy,
    /// Nothing came for as long as a body may take a breath.
    TooSlow,
    /// The peer stopped, or sent no valid body.
    Broken,
}

impl InFlight {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes: AtomicUsize::new(0), bytes_max }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn has_room_for(&self, bytes: usize) -> bool {
        self.bytes().saturating_add(bytes) <= self.bytes_max
    }

    fn take(&self, bytes: usize) -> bool {
        let before = self.bytes.fetch_add(bytes, Ordering::AcqRel);
        let fits = before.saturating_add(bytes) <= self.bytes_max;
        if !fits {
            self.bytes.fetch_sub(bytes, Ordering::AcqRel);
        }
        fits
    }
}

impl BodyPermit {
    fn new(in_flight: &Arc<InFlight>) -> Self {
        Self { in_flight: Arc::clone(in_flight), bytes: 0 }
    }

    fn extend(&mut self, bytes: usize) -> Result<(), BodyError> {
        if !self.in_flight.take(bytes) {
            return Err(BodyError::Busy);
        }
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for BodyPermit {
    fn drop(&mut self) {
        self.in_flight.bytes.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

impl Request {
    pub(crate) fn head(&self) -> Head<'_> {
        Head { method: &self.method, uri: &self.uri, version: self.version, headers: &self.headers }
    }

    pub(crate) fn from_hyper(
        request: hyper::Request<Incoming>,
        connection: &Arc<ConnectionState>,
    ) -> Self {
        let (parts, incoming) = request.into_parts();
        Self {
            method: parts.method,
            uri: parts.uri,
            version: parts.version,
            headers: parts.headers,
            body: RequestBody { incoming, connection: Arc::clone(connection) },
        }
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if !self.incoming.is_end_stream() {
            self.connection.leave_unread();
        }
    }
}

impl RequestBody {
    /// Reads the body to its end.
    ///
    /// # Errors
    /// [`BodyError`]; nothing of the body may be used then, and the rest of it is not read.
    pub(crate) async fn read(
        mut self,
        bytes_max: usize,
        pause_max: Duration,
        in_flight: &Arc<InFlight>,
    ) -> Result<(Bytes, BodyPermit), BodyError> {
        let announced = self.incoming.size_hint().exact();
        if announced.is_some_and(|bytes| bytes > bytes_max as u64) {
            return Err(BodyError::TooLarge);
        }
        let announced = announced.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
        // A share is taken by what has come: announcing much keeps nobody else out.
        if !in_flight.has_room_for(announced) {
            return Err(BodyError::Busy);
        }
        let mut permit = BodyPermit::new(in_flight);
        let mut body = Gathered::default();
        while let Some(data) = self.next(pause_max).await? {
            let bytes = body.len() + data.len();
            if bytes > bytes_max {
                return Err(BodyError::TooLarge);
            }
            permit.extend(data.len())?;
            body.push(data);
        }
        Ok((body.finish(), permit))
    }

    async fn next(&mut self, pause_max: Duration) -> Result<Option<Bytes>, BodyError> {
        loop {
            let frame = poll_fn(|cx| match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Pending if self.connection.is_at_end(cx.waker()) => {
                    Poll::Ready(Err(BodyError::Broken))
                }
                frame => frame.map(|frame| frame.transpose().ok().ok_or(BodyError::Broken)),
            });
            let frame = tokio::time::timeout(pause_max, frame).await;
            match frame.ok().ok_or(BodyError::TooSlow)??.map(Frame::into_data) {
                None => return Ok(None),
                Some(Ok(data)) => return Ok(Some(data)),
                Some(Err(_)) => {} // Trailers mean nothing to us.
            }
        }
    }
}

/// The parts of a body: the first as it came, a copy once there are more.
#[derive(Default)]
struct Gathered {
    first: Bytes,
    rest: BytesMut,
}

impl Gathered {
    fn len(&self) -> usize {
        if self.rest.is_empty() { self.first.len() } else { self.rest.len() }
    }

    fn push(&mut self, data: Bytes) {
        if self.len() == 0 {
            self.first = data;
            return;
        }
        if self.rest.is_empty() {
            self.rest.reserve(self.first.len() + data.len());
            self.rest.extend_from_slice(&self.first);
            self.first = Bytes::new();
        }
        self.rest.extend_from_slice(&data);
    }

    fn finish(self) -> Bytes {
        if !self.rest.is_empty() {
            return self.rest.freeze();
        }
        if self.first.len() < COPIED_BYTES_MAX {
            return Bytes::copy_from_slice(&self.first);
        }
        self.first
    }
}
