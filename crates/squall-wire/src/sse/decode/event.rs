//! What comes out of a stream.

/// One thing that a stream said, lent by the decoder until the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseItem<'d> {
    /// A message that a browser would fire.
    Event(SseEvent<'d>),
    /// A comment, without its colon; the empty one is the usual heartbeat.
    Comment(&'d str),
    /// The server's wish: the wait before connecting again, in milliseconds.
    Retry(u64),
}

/// One message, as a browser would fire it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseEvent<'d> {
    /// The cursor: the newest id of the stream so far. Empty if there was none.
    pub last_event_id: &'d str,
    /// Whether this message brought the id itself, rather than an earlier one.
    pub carries_id: bool,
    /// The name; `message` unless the stream said otherwise.
    pub event: &'d str,
    /// The lines of data, joined with LF.
    pub data: &'d str,
}
