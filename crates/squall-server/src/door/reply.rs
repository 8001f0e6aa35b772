//! An answer as routes make it.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, DATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::follow::Follow;

/// Bytes of a body that may be copied for each who asks for it. Larger ones are shared.
pub(crate) const SMALL_BYTES_MAX: usize = 16 * 1024;

/// A whole answer, or one that goes on.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: ReplyBody,
}

/// The bytes of an answer.
pub(crate) enum ReplyBody {
    Empty,
    Whole(Bytes),
    /// Goes on until the follow ends.
    Follow(Box<Follow>),
}

impl Reply {
    pub(crate) fn new(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), body: ReplyBody::Empty }
    }

    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets a header whose value is made of characters that we chose.
    pub(crate) fn text_header(self, name: HeaderName, value: &str) -> Self {
        match HeaderValue::from_str(value) {
            Ok(value) => self.header(name, value),
            Err(_) => self,
        }
    }

    pub(crate) fn whole(mut self, bytes: Bytes) -> Self {
        self.body = ReplyBody::Whole(bytes);
        self
    }

    /// The body, if it costs little to copy.
    pub(crate) fn small_body(&self) -> Option<Bytes> {
        match &self.body {
            ReplyBody::Whole(bytes) => (bytes.len() <= SMALL_BYTES_MAX).then(|| bytes.clone()),
            ReplyBody::Empty | ReplyBody::Follow(_) => None,
        }
    }

    /// Appends the reply as HTTP/1.1 writes it to a GET (RFC 9112).
    pub(crate) fn encode(&self, out: &mut Vec<u8>, date: &str) {
        let body: &[u8] = match &self.body {
            ReplyBody::Whole(bytes) => bytes,
            ReplyBody::Empty | ReplyBody::Follow(_) => b"",
        };
        push_status(out, "1.1", self.status);
        for (name, value) in &self.headers {
            push_header(out, name.as_str(), value.as_bytes());
        }
        push_header(out, CONTENT_LENGTH.as_str(), body.len().to_string().as_bytes());
        push_header(out, DATE.as_str(), date.as_bytes());
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(body);
    }

    pub(crate) fn follow(mut self, follow: Follow) -> Self {
        self.body = ReplyBody::Follow(Box::new(follow));
        self
    }
}

/// Appends a status line.
pub(crate) fn push_status(out: &mut Vec<u8>, version: &str, status: StatusCode) {
    out.extend_from_slice(b"HTTP/");
    out.extend_from_slice(version.as_bytes());
    out.push(b' ');
    out.extend_from_slice(status.as_str().as_bytes());
    out.push(b' ');
    out.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Appends a header line.
pub(crate) fn push_header(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}
