//! An answer as routes make it.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::follow::Follow;

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

    pub(crate) fn follow(mut self, follow: Follow) -> Self {
        self.body = ReplyBody::Follow(Box::new(follow));
        self
    }
}
