//! What happens when a stream remembers as many producers as it may.

use squall_stream::UnixMillis;
use squall_stream::limits::StreamLimits;
use squall_stream::machine::{AppendDecision, decide_append};
use squall_stream::request::{Append, AppendError};

use crate::committer::states::{Changed, Slot};
use crate::committer::writer::Writer;
use crate::trouble::Trouble;

/// Decides the append of one producer too many again, as if those that have been idle for
/// long were forgotten. They are forgotten only if the append is then stored.
pub(super) fn decide_without_idle(
    slot: &mut Slot,
    writer: &mut Writer<'_>,
    append: &Append,
    now: UnixMillis,
    limits: &StreamLimits,
) -> Result<Result<AppendDecision, AppendError>, Trouble> {
    let max = limits.producers_max;
    let full = Ok(Err(AppendError::ProducersFull { max }));
    let Some(state) = slot.working.as_ref() else {
        return Ok(Err(AppendError::NotFound));
    };
    let until = now.0.checked_sub(limits.producer_idle_max_ms);
    let (Some(until), true) = (until, now >= slot.no_idle_producer_before) else {
        return full;
    };
    let until = UnixMillis(until);
    let (idle, oldest) = writer.idle_producers(state.stream, until)?;
    if idle == 0 {
        slot.no_idle_producer_before = oldest.plus(limits.producer_idle_max_ms);
        return full;
    }
    let mut without = state.clone();
    without.producers = without.producers.saturating_sub(idle);
    let decision = decide_append(Some(&without), None, append, now, limits);
    if matches!(decision, Ok(AppendDecision::Store(_))) {
        writer.forget_idle_producers(without.stream, until)?;
        slot.working = Some(without);
        slot.note(Changed::All);
    }
    Ok(decision)
}
