//! The judge: compares what the connections remember with what was read back.

use std::collections::{BTreeMap, HashMap};

use super::event::{EventId, Piece, pieces};

/// What a connection knows of an event it sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A 2xx came: the event is there, once, for ever.
    Acked,
    /// A refusal came, or had to come: the event is never there.
    Refused,
    /// No reply came: the event is there once or not at all.
    Unknown,
}

/// What one connection remembers.
#[derive(Clone, Debug, Default)]
pub struct ConnectionLog {
    /// The connection's number.
    pub connection: u32,
    /// What became of each event, by its number: the order of sending.
    pub outcomes: BTreeMap<u32, Outcome>,
    /// What the connection itself found wrong, such as a false conflict.
    pub violations: Vec<Violation>,
}

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// An acked event is missing.
    #[error("event {0} was acked and is not there")]
    Lost(EventId),
    /// An event is there more than once.
    #[error("event {event} is there {times} times")]
    Duplicated {
        /// Which.
        event: EventId,
        /// How often it was read.
        times: usize,
    },
    /// Two acked events of one connection are there the wrong way round.
    #[error("event {later} stands before {earlier}, which was acked before it was sent")]
    Reordered {
        /// The event sent first.
        earlier: EventId,
        /// The event sent after the first was acked.
        later: EventId,
    },
    /// A refused event is there.
    #[error("event {0} was refused and is there")]
    RefusedPresent(EventId),
    /// An event is there that nobody sent.
    #[error("event {0} is there and was never sent")]
    NeverSent(EventId),
    /// Bytes are there that are no event: torn, mixed or from elsewhere.
    #[error("foreign bytes at position {position}: {text:?}")]
    Foreign {
        /// Position in what was read back.
        position: usize,
        /// The first of the bytes.
        text: String,
    },
    /// The server gave an answer that the request did not deserve.
    #[error("event {event}: {request} was answered {status}, expected {expected}: {body}")]
    Answer {
        /// Which.
        event: EventId,
        /// What was asked, in words.
        request: &'static str,
        /// The status that came.
        status: u16,
        /// What would have been right.
        expected: &'static str,
        /// The body of the answer.
        body: String,
    },
    /// A connection broke while the server was meant to be alive.
    #[error("connection {connection} broke while the server ran: {reason}")]
    Broken {
        /// Which.
        connection: u32,
        /// The error.
        reason: String,
    },
    /// A stream of an earlier round reads differently later.
    #[error("stream {0} changed after it was verified")]
    Changed(String),
}

/// The result of one comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Events acked.
    pub acked: usize,
    /// Events refused.
    pub refused: usize,
    /// Events without an answer.
    pub unknown: usize,
    /// Those of them that are there.
    pub unknown_present: usize,
    /// Everything that was wrong, in no order of weight.
    pub violations: Vec<Violation>,
}

/// Longest text of foreign bytes in a message.
const FOREIGN_BYTES_SHOWN_MAX: usize = 80;

/// Compares `stored`, the whole stream as read back, with the logs of all connections.
#[must_use]
pub fn verify(logs: &[ConnectionLog], stored: &[u8]) -> Verdict {
    let mut verdict = Verdict::default();
    let positions = read_positions(stored, &mut verdict.violations);
    let mut sent = 0;
    for log in logs {
        verdict.violations.extend(log.violations.iter().cloned());
        judge_outcomes(log, &positions, &mut verdict);
        judge_order(log, &positions, &mut verdict.violations);
        sent += log.outcomes.keys().filter(|n| positions.contains_key(&id(log, **n))).count();
    }
    if sent != positions.len() {
        let known: HashMap<u32, &ConnectionLog> =
            logs.iter().map(|log| (log.connection, log)).collect();
        let was_sent = |event: &&EventId| {
            known.get(&event.connection).is_some_and(|log| log.outcomes.contains_key(&event.number))
        };
        let strangers = positions.keys().filter(|event| !was_sent(event));
        verdict.violations.extend(strangers.map(|event| Violation::NeverSent(*event)));
    }
    verdict
}

/// Where each event stands, first and foremost; foreign bytes and repeats are reported.
fn read_positions(stored: &[u8], violations: &mut Vec<Violation>) -> HashMap<EventId, usize> {
    let mut places: HashMap<EventId, (usize, usize)> = HashMap::new();
    for (position, piece) in pieces(stored).enumerate() {
        match piece {
            Piece::Event(event) => places.entry(event).or_insert((position, 0)).1 += 1,
            Piece::Foreign { offset, bytes } => {
                let shown = &bytes[..bytes.len().min(FOREIGN_BYTES_SHOWN_MAX)];
                let text = String::from_utf8_lossy(shown).into_owned();
                violations.push(Violation::Foreign { position: offset, text });
            }
        }
    }
    let repeated = places.iter().filter(|(_, (_, times))| *times > 1);
    violations.extend(
        repeated.map(|(event, &(_, times))| Violation::Duplicated { event: *event, times }),
    );
    places.into_iter().map(|(event, (position, _))| (event, position)).collect()
}

fn judge_outcomes(log: &ConnectionLog, positions: &HashMap<EventId, usize>, verdict: &mut Verdict) {
    for (number, outcome) in &log.outcomes {
        let event = id(log, *number);
        let present = positions.contains_key(&event);
        match outcome {
            Outcome::Acked => {
                verdict.acked += 1;
                if !present {
                    verdict.violations.push(Violation::Lost(event));
                }
            }
            Outcome::Refused => {
                verdict.refused += 1;
                if present {
                    verdict.violations.push(Violation::RefusedPresent(event));
                }
            }
            Outcome::Unknown => {
                verdict.unknown += 1;
                verdict.unknown_present += usize::from(present);
            }
        }
    }
}

/// A connection sends an event once the last one was acked, so acked events stand in the
/// order of their numbers. An unknown one may have overtaken: it was abandoned.
fn judge_order(
    log: &ConnectionLog,
    positions: &HashMap<EventId, usize>,
    violations: &mut Vec<Violation>,
) {
    let acked = log.outcomes.iter().filter(|(_, outcome)| **outcome == Outcome::Acked);
    let mut furthest: Option<(EventId, usize)> = None;
    for event in acked.map(|(number, _)| id(log, *number)) {
        let Some(&position) = positions.get(&event) else {
            continue;
        };
        match furthest {
            Some((earlier, place)) if position < place => {
                violations.push(Violation::Reordered { earlier, later: event });
            }
            _ => furthest = Some((event, position)),
        }
    }
}

fn id(log: &ConnectionLog, number: u32) -> EventId {
    EventId { connection: log.connection, number }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(connection: u32, number: u32) -> EventId {
        EventId { connection, number }
    }

    /// Two connections: the first with acked 0, 1, 3, refused 2 and unknown 4; the second
    /// with acked 0.
    fn logs() -> Vec<ConnectionLog> {
        let outcomes = [
            (0, Outcome::Acked),
            (1, Outcome::Acked),
            (2, Outcome::Refused),
            (3, Outcome::Acked),
            (4, Outcome::Unknown),
        ];
        let first =
            ConnectionLog { connection: 0, outcomes: outcomes.into(), violations: Vec::new() };
        let second = ConnectionLog {
            connection: 1,
            outcomes: [(0, Outcome::Acked)].into(),
            violations: Vec::new(),
        };
        vec![first, second]
    }

    fn check(stored: &[(u32, u32)], expected: &[Violation]) {
        let bytes: Vec<u8> = stored.iter().flat_map(|&(c, n)| event(c, n).payload()).collect();
        assert_eq!(verify(&logs(), &bytes).violations, expected, "{stored:?}");
    }

    #[test]
    fn what_was_promised_passes_with_or_without_the_unknown_event() {
        check(&[(0, 0), (1, 0), (0, 1), (0, 3)], &[]);
        check(&[(0, 0), (0, 1), (0, 3), (0, 4), (1, 0)], &[]);
        // The sender gave the unknown event up, so it may stand anywhere.
        check(&[(0, 4), (0, 0), (0, 1), (0, 3), (1, 0)], &[]);
    }

    #[test]
    fn outcomes_are_counted() {
        let ids = [(0, 0), (0, 1), (0, 3), (0, 4), (1, 0)];
        let bytes: Vec<u8> = ids.iter().flat_map(|&(c, n)| event(c, n).payload()).collect();
        let expected = Verdict {
            acked: 4,
            refused: 1,
            unknown: 1,
            unknown_present: 1,
            violations: Vec::new(),
        };
        assert_eq!(verify(&logs(), &bytes), expected);
    }

    #[test]
    fn each_broken_promise_is_reported() {
        check(&[(0, 0), (0, 1), (1, 0)], &[Violation::Lost(event(0, 3))]);
        check(
            &[(0, 0), (0, 1), (0, 1), (0, 3), (1, 0)],
            &[Violation::Duplicated { event: event(0, 1), times: 2 }],
        );
        check(
            &[(0, 0), (0, 1), (0, 4), (0, 3), (0, 4), (1, 0)],
            &[Violation::Duplicated { event: event(0, 4), times: 2 }],
        );
        check(
            &[(0, 1), (0, 0), (0, 3), (1, 0)],
            &[Violation::Reordered { earlier: event(0, 0), later: event(0, 1) }],
        );
        check(&[(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)], &[Violation::RefusedPresent(event(0, 2))]);
        check(&[(0, 0), (0, 1), (0, 3), (1, 0), (1, 1)], &[Violation::NeverSent(event(1, 1))]);
        check(&[(0, 0), (0, 1), (0, 3), (1, 0), (9, 0)], &[Violation::NeverSent(event(9, 0))]);
    }

    #[test]
    fn foreign_and_torn_bytes_are_reported() {
        let mut bytes: Vec<u8> =
            [(0, 0), (0, 1), (0, 3)].iter().flat_map(|&(c, n)| event(c, n).payload()).collect();
        let position = bytes.len();
        bytes.extend_from_slice(b"not ours\n");
        let mut torn = event(1, 0).payload();
        torn.remove(4);
        bytes.extend_from_slice(&torn);
        let found = verify(&logs(), &bytes).violations;
        assert_eq!(found[0], Violation::Foreign { position, text: "not ours\n".into() });
        assert!(matches!(found[1], Violation::Foreign { .. }), "{found:?}");
        assert_eq!(found[2], Violation::Lost(event(1, 0)));
    }

    #[test]
    fn what_a_connection_saw_is_passed_on() {
        let mut logs = logs();
        logs[1].violations.push(Violation::Broken { connection: 1, reason: "reset".into() });
        logs[1].outcomes.clear();
        let bytes: Vec<u8> =
            [(0, 0), (0, 1), (0, 3)].iter().flat_map(|&(c, n)| event(c, n).payload()).collect();
        assert_eq!(verify(&logs, &bytes).violations, logs[1].violations);
    }
}
