//! What is remembered of a stream, beside its events.

use crate::content_type::ContentType;
use crate::expiry::Expiry;
use crate::instant::UnixMillis;
use crate::machine::AppendPlan;
use crate::name::StreamName;
use crate::offset::Offset;
use crate::producer::ProducerClaim;
use crate::request::StreamInfo;
use crate::store::StreamId;

/// How a stream was closed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// The producer request that closed it, whose retry is a duplicate.
    pub by: Option<ProducerClaim>,
}

/// What is remembered of a stream, beside its events and its producers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamState {
    /// The engine's id, never used again.
    pub stream: StreamId,
    /// The content type.
    pub content_type: ContentType,
    /// The position of the next append, in bytes.
    pub tail: u64,
    /// The first position that can be read, in bytes.
    pub earliest: u64,
    /// Events that can be read.
    pub events: u64,
    /// Whether, and how, it was closed.
    pub closing: Option<Closing>,
    /// The last accepted `Stream-Seq`.
    pub stream_seq: Option<String>,
    /// Producers that are remembered.
    pub producers: u32,
    /// When it ends by itself.
    pub expiry: Expiry,
    /// When it was created.
    pub created_at: UnixMillis,
    /// When its newest event was appended; never runs backwards.
    pub appended_at: UnixMillis,
    /// When it was last read or appended to, for a sliding expiry.
    pub used_at: UnixMillis,
}

impl StreamState {
    /// A new, empty, open stream.
    #[must_use]
    pub fn new(
        stream: StreamId,
        content_type: ContentType,
        expiry: Expiry,
        now: UnixMillis,
    ) -> Self {
        Self {
            stream,
            content_type,
            tail: 0,
            earliest: 0,
            events: 0,
            closing: None,
            stream_seq: None,
            producers: 0,
            expiry,
            created_at: now,
            appended_at: now,
            used_at: now,
        }
    }

    /// Whether the stream has ended by itself at `now`.
    #[must_use]
    pub fn is_expired(&self, now: UnixMillis) -> bool {
        self.expiry.is_over(self.used_at, now)
    }

    /// The position of the next append.
    #[must_use]
    pub fn tail_offset(&self) -> Offset {
        Offset::at(self.tail)
    }

    /// Notes a read or an append at `now`. Never moves backwards.
    pub fn renew(&mut self, now: UnixMillis) {
        self.used_at = self.used_at.max(now);
    }

    /// Carries out what [`crate::machine::decide_append`] planned for this state.
    pub fn apply(&mut self, plan: &AppendPlan) {
        self.tail = plan.tail;
        self.events += plan.events.len() as u64;
        self.appended_at = plan.appended_at;
        self.renew(plan.appended_at);
        if let Some(closing) = &plan.closing {
            self.closing = Some(closing.clone());
        }
        if let Some(seq) = &plan.stream_seq {
            self.stream_seq = Some(seq.clone());
        }
        if plan.new_producer {
            self.producers += 1;
        }
    }

    /// The state as clients see it.
    #[must_use]
    pub fn info(&self, name: StreamName) -> StreamInfo {
        StreamInfo {
            stream: self.stream,
            name,
            content_type: self.content_type.clone(),
            tail: self.tail_offset(),
            earliest: Offset::at(self.earliest),
            events: self.events,
            bytes: self.tail - self.earliest,
            closed: self.closing.is_some(),
            expiry: self.expiry,
            created_at: self.created_at,
        }
    }
}
