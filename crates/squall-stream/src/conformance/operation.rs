//! Operations picked at random, from few names and small numbers so that they meet.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;

use super::stage::{BEGIN, claim, content_type, named};
use crate::content_type::ContentType;
use crate::expiry::Expiry;
use crate::limits::StreamLimits;
use crate::name::StreamName;
use crate::offset::{Offset, ReadFrom};
use crate::producer::ProducerClaim;
use crate::request::{Append, Create, List, Read, ReadTarget};
use crate::store::StreamId;

/// One thing that is asked of a store, or happens to it.
///
/// Stream ids in it are those of [`super::Model`].
#[derive(Clone, Debug)]
pub enum Operation {
    /// A creation.
    Create(Create),
    /// An append, a close, or both.
    Append(Append),
    /// A deletion.
    Delete(StreamName),
    /// A trim before an offset.
    Trim(StreamName, Offset),
    /// A read.
    Read(Read),
    /// A look at a stream.
    Describe(StreamName),
    /// A look at the newest event.
    Newest(StreamName),
    /// A list.
    List(List),
    /// A follower's renewal.
    Renew(StreamId),
    /// Milliseconds go by.
    Pass(u64),
    /// The store is shut down and opened again.
    Reopen,
}

/// Limits that random operations run into.
#[must_use]
pub fn limits() -> StreamLimits {
    StreamLimits { producers_max: 2, producer_idle_max_ms: 12_000, ..StreamLimits::default() }
}

/// Any operation; appends and reads are the most likely.
pub fn any_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => any_create().prop_map(Operation::Create),
        12 => any_append().prop_map(Operation::Append),
        1 => any_name().prop_map(Operation::Delete),
        1 => (any_name(), any_offset()).prop_map(|(name, before)| Operation::Trim(name, before)),
        6 => any_read().prop_map(Operation::Read),
        2 => any_name().prop_map(Operation::Describe),
        2 => any_name().prop_map(Operation::Newest),
        1 => any_list().prop_map(Operation::List),
        1 => any_id().prop_map(Operation::Renew),
        3 => (0..8_000_u64).prop_map(Operation::Pass),
        1 => Just(Operation::Reopen),
    ]
}

fn any_name() -> impl Strategy<Value = StreamName> {
    select(vec!["a", "a/b", "b"]).prop_map(named)
}

fn any_content_type() -> impl Strategy<Value = Option<ContentType>> {
    // Mostly one type, or most appends would be refused for that alone.
    let types = select(vec![
        "text/plain",
        "text/plain",
        "text/plain",
        "Text/PLAIN; charset=utf-8",
        "application/json",
        "application/octet-stream",
    ]);
    option::weighted(0.9, types.prop_map(content_type))
}

/// Payloads that are JSON elements too.
fn any_events(most: usize) -> impl Strategy<Value = Vec<Bytes>> {
    vec("[1-9]{1,6}".prop_map(Bytes::from), 0..=most)
}

fn any_create() -> impl Strategy<Value = Create> {
    let expiry = prop_oneof![
        6 => Just(Expiry::Never),
        2 => Just(Expiry::Ttl(10)),
        1 => Just(Expiry::Ttl(0)),
        1 => (0..60_000_u64).prop_map(|millis| Expiry::At(BEGIN.plus(millis))),
    ];
    let closed = prop_oneof![9 => Just(false), 1 => Just(true)];
    (any_name(), any_content_type(), expiry, closed, any_events(2)).prop_map(
        |(name, content_type, expiry, closed, events)| Create {
            name,
            content_type,
            expiry,
            closed,
            events,
        },
    )
}

fn any_append() -> impl Strategy<Value = Append> {
    let close = prop_oneof![19 => Just(false), 1 => Just(true)];
    let stream_seq = option::weighted(0.2, "[0-9a-c]{1,2}");
    (
        any_name(),
        any_content_type(),
        any_events(3),
        close,
        option::of(any_claim()),
        stream_seq,
        any::<bool>(),
    )
        .prop_map(|(name, content_type, events, close, producer, seq, create)| Append {
            name,
            content_type,
            // Nothing to append and no close is no append at all.
            events: if events.is_empty() && !close {
                vec![Bytes::from_static(b"0")]
            } else {
                events
            },
            close,
            producer,
            stream_seq: seq,
            create,
        })
}

fn any_claim() -> impl Strategy<Value = ProducerClaim> {
    let id = select(vec!["p", "q", "r"]);
    (id, 0..3_u64, 0..4_u64).prop_filter_map("an id", |(id, epoch, seq)| claim(id, epoch, seq))
}

fn any_offset() -> impl Strategy<Value = Offset> {
    prop_oneof![
        9 => (0..40_u64).prop_map(Offset::at),
        1 => Just("9999999999999999_9999999999999999".parse().unwrap_or(Offset::START)),
    ]
}

fn any_id() -> impl Strategy<Value = StreamId> {
    (1..6_u64).prop_map(StreamId)
}

fn any_read() -> impl Strategy<Value = Read> {
    let target = prop_oneof![
        3 => any_name().prop_map(ReadTarget::Name),
        1 => any_id().prop_map(ReadTarget::Id),
    ];
    let from = prop_oneof![
        Just(ReadFrom::Start),
        Just(ReadFrom::Now),
        Just(ReadFrom::Last),
        any_offset().prop_map(ReadFrom::At),
    ];
    (target, from, 0..30_usize).prop_map(|(target, from, bytes_max)| Read {
        target,
        from,
        bytes_max,
    })
}

fn any_list() -> impl Strategy<Value = List> {
    let prefix = select(vec!["", "", "a", "a/", "c"]);
    let after = option::of(select(vec!["a", "a/a", "b", "0"]));
    (prefix, after, 1..5_usize).prop_map(|(prefix, after, limit)| List {
        prefix: prefix.to_owned(),
        after: after.map(str::to_owned),
        limit,
    })
}
