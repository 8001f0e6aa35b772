//! What comes out of a connection.

/// What was asked, as far as it decides where the reply ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// `HEAD`: the reply has a head only, whatever its headers say.
    Head,
    /// `CONNECT`: behind a head with 2xx, HTTP is over.
    Connect,
    /// Any other method.
    #[default]
    Other,
}

/// The next part of a reply: one [`Head`](Self::Head), then pieces of the body, then
/// [`End`](Self::End). Interim replies may come before the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponsePart<'i> {
    /// A reply with this 1xx status came, other than 101. The final one is still to come.
    Interim(u16),
    /// The head of the final reply.
    Head(ResponseHead),
    /// A piece of the body without its chunked coding. Never empty.
    Body(&'i [u8]),
    /// The reply is complete. A body that ends with the connection has no such part: then
    /// [`ResponseReader::end`](super::ResponseReader::end) tells.
    End,
}

/// What the head of a reply means for the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status code, three digits.
    pub status: u16,
    /// Whether another reply may follow on this connection (RFC 9112 §9.3).
    pub keep_alive: bool,
    /// How the body ends.
    pub framing: BodyFraming,
    /// The content type is `text/event-stream`.
    pub is_event_stream: bool,
    /// Length of the head from its status line to its empty line, in bytes.
    pub head_bytes: u32,
}

/// How a body ends (RFC 9112 §6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFraming {
    /// There is none, and there cannot be one.
    Empty,
    /// After this many bytes, perhaps none.
    Length(u64),
    /// With the last chunk and its trailers.
    Chunked,
    /// With the connection.
    UntilClose,
}

/// What it means that the peer sends no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndOfStream {
    /// Between two replies: nothing was cut.
    Idle,
    /// The body that was being read ends here, as it should.
    Complete,
    /// A head, or a body of known length or in chunks, was cut; or reading had failed before.
    Truncated,
}
