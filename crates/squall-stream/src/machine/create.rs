//! Whether a stream may be created, or stands as asked for.

use crate::content_type::ContentType;
use crate::instant::UnixMillis;
use crate::machine::append::plan;
use crate::machine::{AppendPlan, StreamState};
use crate::request::{Append, AppendError, Create, CreateError};
use crate::store::StreamId;

/// What a creation amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateDecision {
    /// There is no such stream: make one, then append the first events and close it if asked.
    Make,
    /// It stands as asked for: nothing is to be done.
    Stands,
}

/// Decides a creation, given the stream that has the name, if any.
///
/// A stream that has expired by `now` counts as none. First events are not compared: a
/// creation that is repeated after more was appended is still the same creation.
///
/// # Errors
/// [`CreateError::Differs`] if a stream of another configuration has the name.
pub fn decide_create(
    state: Option<&StreamState>,
    create: &Create,
    now: UnixMillis,
) -> Result<CreateDecision, CreateError> {
    let Some(state) = state.filter(|state| !state.is_expired(now)) else {
        return Ok(CreateDecision::Make);
    };
    let asked = create.content_type.clone().unwrap_or_else(ContentType::octet_stream);
    let differs = |differs| Err(CreateError::Differs { differs });
    if !state.content_type.matches(&asked) {
        return differs("content type");
    }
    if state.expiry != create.expiry {
        return differs("expiry");
    }
    if state.closing.is_some() != create.closed {
        return differs("closed state");
    }
    Ok(CreateDecision::Stands)
}

/// The stream that a creation makes, with the append of its first events and its close.
///
/// No append is planned if there are no first events and the stream is open. The state
/// has not yet been changed by the plan. First events are stored even in a stream that
/// is born expired, with a TTL of 0 or an instant in the past.
///
/// # Errors
/// [`CreateError::OffsetsExhausted`] if the first events do not fit.
pub fn plan_create(
    create: &Create,
    stream: StreamId,
    now: UnixMillis,
) -> Result<(StreamState, Option<AppendPlan>), CreateError> {
    let content_type = create.content_type.clone().unwrap_or_else(ContentType::octet_stream);
    let state = StreamState::new(stream, content_type.clone(), create.expiry, now);
    if create.events.is_empty() && !create.closed {
        return Ok((state, None));
    }
    let mut first = Append::new(create.name.clone(), content_type, create.events.clone());
    first.close = create.closed;
    match plan(&state, None, &first, now) {
        Ok(plan) => Ok((state, Some(plan))),
        Err(AppendError::Store(error)) => Err(CreateError::Store(error)),
        Err(_) => Err(CreateError::OffsetsExhausted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expiry::Expiry;
    use crate::machine::Closing;
    use crate::name::StreamName;
    use crate::store::StreamId;

    fn plain() -> Create {
        Create {
            name: StreamName::parse("s").unwrap(),
            content_type: Some(ContentType::text_plain()),
            expiry: Expiry::Ttl(60),
            closed: false,
            events: Vec::new(),
        }
    }

    fn stands(change: impl FnOnce(&mut Create)) -> Result<CreateDecision, CreateError> {
        let now = UnixMillis(1_000);
        let text = ContentType::parse("TEXT/plain; charset=utf-8").unwrap();
        let state = StreamState::new(StreamId(1), text, Expiry::Ttl(60), now);
        let mut create = plain();
        change(&mut create);
        decide_create(Some(&state), &create, now)
    }

    #[test]
    fn the_same_configuration_stands_and_another_is_refused() {
        let differs = |differs| Err(CreateError::Differs { differs });
        assert_eq!(stands(|_| {}), Ok(CreateDecision::Stands));
        assert_eq!(stands(|c| c.content_type = None), differs("content type"));
        assert_eq!(stands(|c| c.expiry = Expiry::Never), differs("expiry"));
        assert_eq!(stands(|c| c.closed = true), differs("closed state"));
    }

    #[test]
    fn an_expired_stream_is_none_and_a_closed_one_is_not_open() {
        let text = ContentType::text_plain();
        let mut state = StreamState::new(StreamId(1), text, Expiry::Ttl(60), UnixMillis(0));
        let late = UnixMillis(60_000);
        assert_eq!(decide_create(Some(&state), &plain(), late), Ok(CreateDecision::Make));
        assert_eq!(decide_create(None, &plain(), late), Ok(CreateDecision::Make));
        state.closing = Some(Closing::default());
        let found = decide_create(Some(&state), &plain(), UnixMillis(0));
        assert_eq!(found, Err(CreateError::Differs { differs: "closed state" }));
    }
}
