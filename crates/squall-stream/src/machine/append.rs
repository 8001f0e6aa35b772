//! Whether an append is stored, a duplicate, or refused.

use crate::event::Event;
use crate::instant::UnixMillis;
use crate::limits::{POSITION_MAX, StreamLimits};
use crate::machine::{Closing, StreamState};
use crate::offset::Offset;
use crate::producer::{ProducerPosition, ProducerState, ProducerVerdict, judge};
use crate::request::{Append, AppendAck, AppendError};

/// What an append amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendDecision {
    /// Nothing is to be stored: it was before, or it asks for what already is.
    Stands(AppendAck),
    /// Everything in the plan is to be stored, together.
    Store(AppendPlan),
}

/// What an accepted append changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendPlan {
    /// The events with their positions.
    pub events: Vec<Event>,
    /// The tail behind them, in bytes.
    pub tail: u64,
    /// When they count as appended: `now`, or the newest event's time if that is later.
    pub appended_at: UnixMillis,
    /// How the stream is closed, if it is.
    pub closing: Option<Closing>,
    /// The accepted `Stream-Seq`.
    pub stream_seq: Option<String>,
    /// What is to be remembered of the producer in [`Append::producer`].
    pub producer: Option<ProducerState>,
    /// Whether nothing was remembered of that producer before.
    pub new_producer: bool,
    /// What is answered once it is durable.
    pub ack: AppendAck,
}

/// Decides an append.
///
/// `state` is the stream that has the name; one that has expired by `now` counts as none.
/// `producer` is what is remembered of the producer that `append` claims, if anything.
/// The checks run in the protocol's order: closed, content type, producer, `Stream-Seq`.
///
/// # Errors
/// [`AppendError`] says which rule refuses the append; nothing changes then.
pub fn decide_append(
    state: Option<&StreamState>,
    producer: Option<&ProducerState>,
    append: &Append,
    now: UnixMillis,
    limits: &StreamLimits,
) -> Result<AppendDecision, AppendError> {
    let state = state.filter(|state| !state.is_expired(now)).ok_or(AppendError::NotFound)?;
    if let Some(closing) = &state.closing {
        return on_closed(state, closing, append);
    }
    check_content_type(state, append)?;
    if let Some(ack) = check_producer(state, producer, append, limits)? {
        return Ok(AppendDecision::Stands(ack));
    }
    check_stream_seq(state, append)?;
    plan(state, producer, append, now).map(AppendDecision::Store)
}

/// A closed stream takes nothing, but a repeated close stands.
fn on_closed(
    state: &StreamState,
    closing: &Closing,
    append: &Append,
) -> Result<AppendDecision, AppendError> {
    let repeats_close = match &append.producer {
        Some(claim) => closing.by.as_ref() == Some(claim) && append.close,
        None => append.close && append.events.is_empty(),
    };
    if !repeats_close {
        return Err(AppendError::Closed { tail: state.tail_offset() });
    }
    let producer = append.producer.as_ref().map(|claim| claim.position);
    Ok(AppendDecision::Stands(ack(state, state.tail, true, true, producer)))
}

fn check_content_type(state: &StreamState, append: &Append) -> Result<(), AppendError> {
    match &append.content_type {
        Some(found) if !append.events.is_empty() && !state.content_type.matches(found) => {
            Err(AppendError::ContentTypeMismatch { expected: state.content_type.clone() })
        }
        _ => Ok(()),
    }
}

/// Returns the answer to a duplicate.
fn check_producer(
    state: &StreamState,
    known: Option<&ProducerState>,
    append: &Append,
    limits: &StreamLimits,
) -> Result<Option<AppendAck>, AppendError> {
    let Some(claim) = &append.producer else {
        return Ok(None);
    };
    match judge(known, claim.position) {
        ProducerVerdict::Accept if known.is_none() && state.producers >= limits.producers_max => {
            Err(AppendError::ProducersFull { max: limits.producers_max })
        }
        ProducerVerdict::Accept => Ok(None),
        ProducerVerdict::Duplicate { last } => {
            Ok(Some(ack(state, state.tail, false, true, Some(last))))
        }
        ProducerVerdict::Fenced { epoch } => Err(AppendError::ProducerFenced { epoch }),
        ProducerVerdict::Gap { expected } => {
            Err(AppendError::ProducerGap { expected, received: claim.position.seq })
        }
        ProducerVerdict::EpochMustStartAtZero => Err(AppendError::ProducerEpochMustStartAtZero),
    }
}

fn check_stream_seq(state: &StreamState, append: &Append) -> Result<(), AppendError> {
    match (&state.stream_seq, &append.stream_seq) {
        (Some(last), Some(next)) if next.as_bytes() <= last.as_bytes() => {
            Err(AppendError::SequenceNotGreater { last: last.clone() })
        }
        _ => Ok(()),
    }
}

/// What storing `append` changes, once no rule refuses it.
pub(super) fn plan(
    state: &StreamState,
    known: Option<&ProducerState>,
    append: &Append,
    now: UnixMillis,
) -> Result<AppendPlan, AppendError> {
    let mut tail = state.tail;
    let mut events = Vec::with_capacity(append.events.len());
    for payload in &append.events {
        let end = tail.checked_add(payload.len() as u64).filter(|end| *end <= POSITION_MAX);
        let end = end.ok_or(AppendError::OffsetsExhausted)?;
        events.push(Event {
            start: Offset::at(tail),
            end: Offset::at(end),
            payload: payload.clone(),
        });
        tail = end;
    }
    let claim = append.producer.as_ref();
    let position = claim.map(|claim| claim.position);
    let appended_at = now.max(state.appended_at);
    Ok(AppendPlan {
        events,
        tail,
        appended_at,
        closing: append.close.then(|| Closing { by: claim.cloned() }),
        stream_seq: append.stream_seq.clone(),
        producer: position.map(|last| ProducerState { last, used_at: appended_at }),
        new_producer: claim.is_some() && known.is_none(),
        ack: ack(state, tail, append.close, false, position),
    })
}

fn ack(
    state: &StreamState,
    tail: u64,
    closed: bool,
    duplicate: bool,
    producer: Option<ProducerPosition>,
) -> AppendAck {
    AppendAck { stream: state.stream, tail: Offset::at(tail), closed, duplicate, producer }
}
