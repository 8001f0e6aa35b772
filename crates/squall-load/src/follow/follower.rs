//! One follower.

use squall_wire::http::response::ResponseReader;
use squall_wire::sse::decode::SseDecoder;

use super::tracker::Tracker;
use crate::net::Channel;

/// How far a follower has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// It has no connection; it may be tried from this moment on.
    Closed { retry_ns: u64 },
    /// The connection is being made since then.
    Opening { since_ns: u64 },
    /// The request is out; nothing but its answer is waited for.
    Asking,
    /// Events come.
    Following,
    /// It has been told to stop, or refused for good.
    #[default]
    Stopped,
}

/// One follower, over all its connections.
#[derive(Debug)]
pub(super) struct Follower {
    pub(super) state: State,
    pub(super) channel: Option<Box<Channel>>,
    pub(super) reader: ResponseReader,
    pub(super) decoder: SseDecoder,
    pub(super) generation: u32,
    /// It takes little at a time, on purpose.
    pub(super) is_slow: bool,
    pub(super) next_read_ns: u64,
    /// When the present request left.
    pub(super) asked_ns: u64,
    pub(super) heard: Heard,
    /// The server's wish: the wait before connecting again.
    pub(super) retry_ms: Option<u64>,
    pub(super) failures_in_row: u32,
    /// It was answered with an event stream once.
    pub(super) is_established: bool,
    pub(super) tracker: Tracker,
}

/// What has been heard so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    pub(super) byte: bool,
    pub(super) event: bool,
    pub(super) matching: bool,
    pub(super) last_event_ns: Option<u64>,
}

impl Follower {
    pub(super) fn new(run_id: u32, is_slow: bool) -> Self {
        Self {
            state: State::Closed { retry_ns: 0 },
            channel: None,
            reader: ResponseReader::new(),
            decoder: SseDecoder::default(),
            generation: 0,
            is_slow,
            next_read_ns: 0,
            asked_ns: 0,
            heard: Heard::default(),
            retry_ms: None,
            failures_in_row: 0,
            is_established: false,
            tracker: Tracker::new(run_id),
        }
    }
}
