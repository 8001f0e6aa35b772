//! The payloads of the crash test: lines that name themselves and show any damage.

use std::fmt;

/// Padding of most events, in bytes.
const PADDING_BYTES_MAX: u64 = 200;
/// Padding of one event in 64: more than a SQLite page, so that it spans several.
const PADDING_BYTES_LONG: u64 = 12_000;

/// Names one event: the connection that sent it, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// The connection, from 0.
    pub connection: u32,
    /// Counts the events of the connection, from 0, in the order of sending.
    pub number: u32,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.connection, self.number)
    }
}

impl EventId {
    /// The payload: one line, `connection:number:padding`. The padding follows from the id,
    /// so that a torn or mixed payload does not pass for a whole one.
    #[must_use]
    pub fn payload(self) -> Vec<u8> {
        let mut state = u64::from(self.connection) << 32 | u64::from(self.number);
        let size = match next(&mut state) {
            long if long.is_multiple_of(64) => long / 64 % PADDING_BYTES_LONG,
            short => short % PADDING_BYTES_MAX,
        };
        let mut line = format!("{self}:").into_bytes();
        for _ in 0..size {
            let [letter, ..] = (next(&mut state) % 26).to_le_bytes();
            line.push(b'a' + letter);
        }
        line.push(b'\n');
        line
    }

    fn of_line(line: &[u8]) -> Option<Self> {
        let mut fields = str::from_utf8(line).ok()?.split(':');
        let connection = fields.next()?.parse().ok()?;
        let id = Self { connection, number: fields.next()?.parse().ok()? };
        (id.payload() == line).then_some(id)
    }
}

/// One step of splitmix64: cheap, and the same on every machine.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// A part of what was read back.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A whole payload.
    Event(EventId),
    /// A line that is no payload: torn, mixed or from elsewhere.
    Foreign { offset: usize, bytes: &'a [u8] },
}

/// Splits what was read back into payloads; after damage it goes on with the next line.
pub(super) fn pieces(stored: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let mut offset = 0;
    stored.split_inclusive(|byte| *byte == b'\n').map(move |line| {
        let start = offset;
        offset += line.len();
        match EventId::of_line(line) {
            Some(id) => Piece::Event(id),
            None => Piece::Foreign { offset: start, bytes: line },
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_recognised_and_damage_is_not() {
        let ids: Vec<EventId> = (0..500).map(|number| EventId { connection: 7, number }).collect();
        let stored: Vec<u8> = ids.iter().flat_map(|id| id.payload()).collect();
        let expected: Vec<Piece<'_>> = ids.iter().map(|id| Piece::Event(*id)).collect();
        assert_eq!(pieces(&stored).collect::<Vec<_>>(), expected);

        let whole = EventId { connection: 1, number: 2 }.payload();
        let torn = &whole[..whole.len() - 2];
        assert_eq!(pieces(torn).collect::<Vec<_>>(), [Piece::Foreign { offset: 0, bytes: torn }]);
    }

    #[test]
    fn some_payloads_span_pages() {
        let longest = (0..1_000).map(|number| EventId { connection: 0, number }.payload().len());
        assert!(longest.max() > Some(4_096));
    }
}
