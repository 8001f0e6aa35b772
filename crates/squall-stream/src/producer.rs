//! Idempotent producers: who appended what last, and what that makes of a retry.

use std::sync::Arc;

use crate::instant::UnixMillis;
use crate::limits::{PRODUCER_ID_BYTES_MAX, PRODUCER_NUMBER_MAX, StreamLimits};

/// The name that a producer gives itself; unique within a stream. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProducerId(Arc<str>);

/// Why a producer claim is malformed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProducerError {
    /// Nothing, or more than [`PRODUCER_ID_BYTES_MAX`] bytes.
    #[error("a producer id needs 1 to {PRODUCER_ID_BYTES_MAX} bytes")]
    Id,
    /// Not a decimal integer in range.
    #[error("{field} is {text:?}; write a decimal integer from 0 to {PRODUCER_NUMBER_MAX}")]
    Number {
        /// The header that held it.
        field: &'static str,
        /// What was given.
        text: String,
    },
}

impl ProducerId {
    /// Takes `text` as a producer id.
    ///
    /// # Errors
    /// [`ProducerError::Id`] if it is empty or too long.
    pub fn parse(text: &str) -> Result<Self, ProducerError> {
        if text.is_empty() || text.len() > PRODUCER_ID_BYTES_MAX {
            return Err(ProducerError::Id);
        }
        Ok(Self(Arc::from(text)))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Reads an epoch or a sequence number.
///
/// # Errors
/// [`ProducerError::Number`] for anything but decimal digits up to 2^53 - 1.
pub fn parse_number(field: &'static str, text: &str) -> Result<u64, ProducerError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|number| digits && *number <= PRODUCER_NUMBER_MAX)
        .ok_or_else(|| ProducerError::Number { field, text: text.to_owned() })
}

/// Where a producer stands: its epoch and a sequence number within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerPosition {
    /// Which incarnation of the producer; a higher one fences the lower ones off.
    pub epoch: u64,
    /// Which request of that incarnation, from 0.
    pub seq: u64,
}

/// What one append says of its producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerClaim {
    /// Who appends.
    pub id: ProducerId,
    /// Which request of theirs this is.
    pub position: ProducerPosition,
}

/// What a store remembers of a producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerState {
    /// The highest accepted position.
    pub last: ProducerPosition,
    /// When it was accepted.
    pub used_at: UnixMillis,
}

impl ProducerState {
    /// Whether the producer may be forgotten at `now` to make room for another.
    #[must_use]
    pub fn is_idle(&self, now: UnixMillis, limits: &StreamLimits) -> bool {
        now.since(self.used_at) >= limits.producer_idle_max_ms
    }
}

/// What a producer's claim amounts to, given what is remembered of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProducerVerdict {
    /// The next request in order.
    Accept,
    /// Accepted before; the highest accepted position is `last`.
    Duplicate {
        /// The highest accepted position.
        last: ProducerPosition,
    },
    /// A later incarnation has taken over.
    Fenced {
        /// The epoch that holds now.
        epoch: u64,
    },
    /// Earlier requests are missing.
    Gap {
        /// The sequence number that would be accepted.
        expected: u64,
    },
    /// A new epoch must start with sequence number 0.
    EpochMustStartAtZero,
}

/// Judges the claim of a producer of which `known` is remembered.
#[must_use]
pub fn judge(known: Option<&ProducerState>, claim: ProducerPosition) -> ProducerVerdict {
    let Some(known) = known else {
        return if claim.seq == 0 {
            ProducerVerdict::Accept
        } else {
            ProducerVerdict::Gap { expected: 0 }
        };
    };
    let last = known.last;
    if claim.epoch < last.epoch {
        return ProducerVerdict::Fenced { epoch: last.epoch };
    }
    if claim.epoch > last.epoch {
        return if claim.seq == 0 {
            ProducerVerdict::Accept
        } else {
            ProducerVerdict::EpochMustStartAtZero
        };
    }
    if claim.seq <= last.seq {
        return ProducerVerdict::Duplicate { last };
    }
    if claim.seq == last.seq + 1 {
        return ProducerVerdict::Accept;
    }
    ProducerVerdict::Gap { expected: last.seq + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(known: Option<(u64, u64)>, claim: (u64, u64), expected: ProducerVerdict) {
        let position = |(epoch, seq)| ProducerPosition { epoch, seq };
        let known = known.map(|at| ProducerState { last: position(at), used_at: UnixMillis(0) });
        assert_eq!(judge(known.as_ref(), position(claim)), expected, "{known:?} {claim:?}");
    }

    #[test]
    fn judgements() {
        let last = ProducerPosition { epoch: 1, seq: 4 };
        check(None, (0, 0), ProducerVerdict::Accept);
        check(None, (7, 0), ProducerVerdict::Accept);
        check(None, (0, 3), ProducerVerdict::Gap { expected: 0 });
        check(Some((1, 4)), (1, 5), ProducerVerdict::Accept);
        check(Some((1, 4)), (1, 4), ProducerVerdict::Duplicate { last });
        check(Some((1, 4)), (1, 0), ProducerVerdict::Duplicate { last });
        check(Some((1, 4)), (1, 6), ProducerVerdict::Gap { expected: 5 });
        check(Some((1, 4)), (0, 5), ProducerVerdict::Fenced { epoch: 1 });
        check(Some((1, 4)), (2, 0), ProducerVerdict::Accept);
        check(Some((1, 4)), (2, 1), ProducerVerdict::EpochMustStartAtZero);
    }

    #[test]
    fn numbers_are_plain_decimals_up_to_2_to_the_53() {
        assert_eq!(parse_number("Producer-Seq", "0"), Ok(0));
        assert_eq!(parse_number("Producer-Seq", "9007199254740991"), Ok(PRODUCER_NUMBER_MAX));
        for text in ["", "1abc", "1.5", "-1", "+1", " 1", "9007199254740992", "1e3"] {
            assert!(parse_number("Producer-Seq", text).is_err(), "{text:?}");
        }
    }
}
