//! What can be asked of a stream, what is answered, and why it may be refused.

use bytes::Bytes;

use crate::content_type::ContentType;
use crate::expiry::Expiry;
use crate::instant::UnixMillis;
use crate::name::StreamName;
use crate::observer::UnreadyReason;
use crate::offset::{Offset, ReadFrom};
use crate::producer::{ProducerClaim, ProducerPosition};
use crate::store::StreamId;

/// Creates a stream, or confirms that it exists as asked for.
#[derive(Clone, Debug)]
pub struct Create {
    /// The stream's name.
    pub name: StreamName,
    /// Its content type; [`ContentType::octet_stream`] if none is said.
    pub content_type: Option<ContentType>,
    /// When it ends by itself.
    pub expiry: Expiry,
    /// Whether it is closed from the start.
    pub closed: bool,
    /// Its first events, cut as [`Append::events`] are; may be empty.
    pub events: Vec<Bytes>,
}

/// Appends events to a stream, closes it, or both in one step.
#[derive(Clone, Debug)]
pub struct Append {
    /// The stream's name.
    pub name: StreamName,
    /// The content type that the stream must have; none for a mere close.
    pub content_type: Option<ContentType>,
    /// Payloads, one for each event, none of them empty. For a JSON stream the elements
    /// of the body ([`crate::json::elements`]), otherwise the body itself.
    pub events: Vec<Bytes>,
    /// Whether the stream takes nothing after this.
    pub close: bool,
    /// The producer whose retries must have no second effect.
    pub producer: Option<ProducerClaim>,
    /// A text that must be greater, byte by byte, than that of the append before.
    pub stream_seq: Option<String>,
    /// Creates the stream with [`Append::content_type`] if there is none.
    pub create: bool,
}

impl Append {
    /// An append of `events` with nothing else asked for.
    #[must_use]
    pub fn new(name: StreamName, content_type: ContentType, events: Vec<Bytes>) -> Self {
        Self {
            name,
            content_type: Some(content_type),
            events,
            close: false,
            producer: None,
            stream_seq: None,
            create: false,
        }
    }

    /// Bytes that a queue holds for this append: the payloads, and what goes with each.
    #[must_use]
    pub fn bytes(&self) -> usize {
        bytes_of(&self.events)
    }
}

impl Create {
    /// Bytes that a queue holds for this creation, as [`Append::bytes`].
    #[must_use]
    pub fn bytes(&self) -> usize {
        bytes_of(&self.events)
    }
}

fn bytes_of(events: &[Bytes]) -> usize {
    let each = |payload: &Bytes| payload.len() + size_of::<crate::event::Event>();
    events.iter().map(each).sum()
}

/// Reads one page of a stream.
#[derive(Clone, Debug)]
pub struct Read {
    /// Which stream.
    pub target: ReadTarget,
    /// Where to start.
    pub from: ReadFrom,
    /// Payload bytes that a page may hold. At least one event is returned if there is one.
    pub bytes_max: usize,
}

/// How a read names its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadTarget {
    /// The stream that has this name now. Renews a sliding expiry.
    Name(StreamName),
    /// This very stream, never a later one of the same name. Renews nothing.
    Id(StreamId),
}

/// A stream as [`crate::StreamStore::describe`] and lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamInfo {
    /// The engine's id, never used again.
    pub stream: StreamId,
    /// The name.
    pub name: StreamName,
    /// The content type.
    pub content_type: ContentType,
    /// The position of the next append.
    pub tail: Offset,
    /// The first position that can be read.
    pub earliest: Offset,
    /// Events that can be read.
    pub events: u64,
    /// Payload bytes that can be read.
    pub bytes: u64,
    /// Whether it takes no more.
    pub closed: bool,
    /// When it ends by itself.
    pub expiry: Expiry,
    /// When it was created.
    pub created_at: UnixMillis,
}

/// The newest event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newest {
    /// The stream's content type.
    pub content_type: ContentType,
    /// The event's payload.
    pub payload: Bytes,
}

/// Lists streams in the order of their names' bytes.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// Only names that start with this; all if empty.
    pub prefix: String,
    /// Only names behind this one.
    pub after: Option<String>,
    /// Streams to return at most.
    pub limit: usize,
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The streams, in the order of their names' bytes.
    pub streams: Vec<StreamInfo>,
    /// The name to go on after; none at the end.
    pub next: Option<String>,
}

/// A creation that is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateAck {
    /// Whether the stream is new; otherwise it stood as asked for.
    pub created: bool,
    /// The stream as it is now.
    pub info: StreamInfo,
}

/// An append that is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendAck {
    /// The stream that took it.
    pub stream: StreamId,
    /// The tail behind it; for a duplicate the tail now.
    pub tail: Offset,
    /// Whether the stream is closed now.
    pub closed: bool,
    /// Whether an earlier request had stored it already.
    pub duplicate: bool,
    /// The producer's highest accepted position, if one was claimed.
    pub producer: Option<ProducerPosition>,
}

/// Why a store could not take or finish a request, whatever the request was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Refused before anything was done; never stored.
    #[error("the {queue} queue is full")]
    QueueFull {
        /// Which queue.
        queue: &'static str,
    },
    /// Refused before anything was stored, until the reason is gone.
    #[error("{0}")]
    Unready(UnreadyReason),
    /// The change is there once or not at all. Retry only with the same producer position.
    #[error("the store stopped before it confirmed the change")]
    OutcomeUnknown,
    /// A read failed, or one change alone could not be stored and was undone.
    #[error("storage failed: {reason}")]
    Failed {
        /// What the engine said, for the log.
        reason: String,
    },
}

/// Why a stream was not created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// A stream of that name exists and differs.
    #[error("the stream exists with another {differs}")]
    Differs {
        /// What differs: `content type`, `expiry` or `closed state`.
        differs: &'static str,
    },
    /// The first events would not fit into one stream.
    #[error("the stream would pass the largest offset")]
    OffsetsExhausted,
    /// See [`StoreError`].
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an append was not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// There is no such stream.
    #[error("there is no such stream")]
    NotFound,
    /// The stream takes no more.
    #[error("the stream is closed")]
    Closed {
        /// Its final offset.
        tail: Offset,
    },
    /// The stream holds another content type.
    #[error("the stream holds {expected}")]
    ContentTypeMismatch {
        /// What the stream holds.
        expected: ContentType,
    },
    /// `Stream-Seq` is not greater than the last one.
    #[error("Stream-Seq must be greater than {last:?}")]
    SequenceNotGreater {
        /// The last accepted value.
        last: String,
    },
    /// A later incarnation of the producer has taken over.
    #[error("the producer is fenced off by epoch {epoch}")]
    ProducerFenced {
        /// The epoch that holds now.
        epoch: u64,
    },
    /// Earlier requests of the producer are missing.
    #[error("the producer's next sequence number is {expected}, not {received}")]
    ProducerGap {
        /// The sequence number that would be accepted.
        expected: u64,
        /// The one that was sent.
        received: u64,
    },
    /// A new epoch must start with sequence number 0.
    #[error("a new producer epoch starts with sequence number 0")]
    ProducerEpochMustStartAtZero,
    /// The stream remembers as many producers as it may, none of them idle long enough.
    #[error("the stream has {max} producers; no more are taken until some have been idle")]
    ProducersFull {
        /// The most that is allowed.
        max: u32,
    },
    /// The stream would pass the largest offset.
    #[error("the stream would pass the largest offset")]
    OffsetsExhausted,
    /// See [`StoreError`].
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a read gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// There is no such stream, or no longer.
    #[error("there is no such stream")]
    NotFound,
    /// The events at this offset are gone.
    #[error("the offset was trimmed; the earliest is {earliest}")]
    Trimmed {
        /// The first position that can be read.
        earliest: Offset,
    },
    /// The offset lies behind the tail.
    #[error("the offset lies beyond the tail, which is {tail}")]
    BeyondTail {
        /// The tail.
        tail: Offset,
    },
    /// The offset lies inside an element of a JSON stream.
    #[error("the offset lies inside an event; the event ends at {end}")]
    InsideEvent {
        /// The next offset that is between events.
        end: Offset,
    },
    /// See [`StoreError`].
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a stream was not deleted, trimmed or described.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// There is no such stream.
    #[error("there is no such stream")]
    NotFound,
    /// See [`StoreError`].
    #[error(transparent)]
    Store(#[from] StoreError),
}
