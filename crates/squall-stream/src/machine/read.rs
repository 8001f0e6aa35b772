//! Where a read starts, and where a trim cuts.

use crate::content_type::ContentKind;
use crate::machine::StreamState;
use crate::offset::{Offset, ReadFrom};
use crate::request::ReadError;

/// The byte position that a read starts at, given the stream that it names.
///
/// `newest_start` is where the newest event begins, none if there is no event; it is
/// looked at only for [`ReadFrom::Last`]. The position lies between the earliest one and
/// the tail. It may lie inside an event, so an engine that has found the event that holds
/// it asks [`check_inside`] too.
///
/// # Errors
/// [`ReadError::Trimmed`] below the earliest position, [`ReadError::BeyondTail`] behind
/// the tail, also for an offset that no engine that counts bytes ever returned.
pub fn resolve_read(
    state: &StreamState,
    newest_start: Option<u64>,
    from: ReadFrom,
) -> Result<u64, ReadError> {
    let offset = match from {
        ReadFrom::Start => return Ok(state.earliest),
        ReadFrom::Now => return Ok(state.tail),
        ReadFrom::Last => return Ok(newest_start.unwrap_or(state.tail)),
        ReadFrom::At(offset) => offset,
    };
    match offset.position() {
        Some(position) if position < state.earliest => {
            Err(ReadError::Trimmed { earliest: Offset::at(state.earliest) })
        }
        Some(position) if position <= state.tail => Ok(position),
        _ => Err(ReadError::BeyondTail { tail: state.tail_offset() }),
    }
}

/// Whether a read may start at `position`, given the event from `start` to `end` that
/// holds it: `start <= position < end`.
///
/// A stream of bytes may be read from anywhere; an element of a JSON stream is whole.
///
/// # Errors
/// [`ReadError::InsideEvent`] if `position` would cut an element.
pub fn check_inside(
    kind: ContentKind,
    position: u64,
    start: u64,
    end: u64,
) -> Result<(), ReadError> {
    if kind == ContentKind::Json && position > start {
        return Err(ReadError::InsideEvent { end: Offset::at(end) });
    }
    Ok(())
}

/// The position up to which a trim before `before` may give up whole events.
///
/// An engine rounds it down to the start of the event that holds it; at the tail nothing
/// is left to round.
#[must_use]
pub fn resolve_trim(state: &StreamState, before: Offset) -> u64 {
    let position = before.position().unwrap_or(state.tail);
    position.clamp(state.earliest, state.tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content_type::ContentType;
    use crate::expiry::Expiry;
    use crate::instant::UnixMillis;
    use crate::store::StreamId;

    /// A stream whose bytes 10 to 30 can be read.
    fn state() -> StreamState {
        let text = ContentType::text_plain();
        let mut state = StreamState::new(StreamId(1), text, Expiry::Never, UnixMillis(0));
        (state.earliest, state.tail) = (10, 30);
        state
    }

    fn check(from: ReadFrom, newest_start: Option<u64>, expected: Result<u64, ReadError>) {
        let found = resolve_read(&state(), newest_start, from);
        assert_eq!(found, expected, "{from:?} {newest_start:?}");
    }

    #[test]
    fn reads_start_between_the_earliest_position_and_the_tail() {
        let trimmed = || Err(ReadError::Trimmed { earliest: Offset::at(10) });
        let beyond = || Err(ReadError::BeyondTail { tail: Offset::at(30) });
        let at = |position| ReadFrom::At(Offset::at(position));
        check(ReadFrom::Start, None, Ok(10));
        check(ReadFrom::Now, Some(25), Ok(30));
        check(ReadFrom::Last, Some(25), Ok(25));
        check(ReadFrom::Last, None, Ok(30));
        check(at(0), None, trimmed());
        check(at(9), None, trimmed());
        check(at(10), None, Ok(10));
        check(at(17), None, Ok(17));
        check(at(30), None, Ok(30));
        check(at(31), None, beyond());
        let foreign: Offset = "9999999999999999_9999999999999999".parse().unwrap();
        check(ReadFrom::At(foreign), None, beyond());
        let foreign: Offset = "0000000000000001_0000000000000000".parse().unwrap();
        check(ReadFrom::At(foreign), None, beyond());
    }

    #[test]
    fn only_a_json_element_is_whole() {
        let inside = Err(ReadError::InsideEvent { end: Offset::at(20) });
        assert_eq!(check_inside(ContentKind::Json, 10, 10, 20), Ok(()));
        assert_eq!(check_inside(ContentKind::Json, 11, 10, 20), inside);
        assert_eq!(check_inside(ContentKind::Json, 19, 10, 20), inside);
        assert_eq!(check_inside(ContentKind::Text, 19, 10, 20), Ok(()));
        assert_eq!(check_inside(ContentKind::Binary, 11, 10, 20), Ok(()));
    }

    #[test]
    fn a_trim_never_passes_the_tail_nor_goes_back() {
        let foreign: Offset = "0000000000000001_0000000000000000".parse().unwrap();
        assert_eq!(resolve_trim(&state(), Offset::at(5)), 10);
        assert_eq!(resolve_trim(&state(), Offset::at(20)), 20);
        assert_eq!(resolve_trim(&state(), Offset::at(31)), 30);
        assert_eq!(resolve_trim(&state(), foreign), 30);
    }
}
