//! Cursors: what lets caches tell one wait from the next.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand::RngExt;

use crate::follow::Cursor;

/// 2024-10-09T00:00:00Z, from which the protocol counts, in seconds since 1970.
const EPOCH_S: u64 = 1_728_432_000;

/// Length of one interval, in seconds.
const INTERVAL_S: u64 = 20;

/// Most seconds by which a cursor that a client has reached already is moved on.
const JITTER_S_MAX: u64 = 3_600;

/// Cursors from here on were never given out, so there is nothing to be greater than.
const SENT_MAX: u64 = 1 << 53;

/// The cursor for a client that sent `sent`, if anything.
///
/// The number of the present interval; if the client is there already, a later one, so
/// that its next request differs from its last.
pub(crate) fn next_cursor(sent: Option<u64>) -> Cursor {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let present = since_1970.as_secs().saturating_sub(EPOCH_S) / INTERVAL_S;
    match sent {
        Some(sent) if (present..SENT_MAX).contains(&sent) => {
            let seconds = rand::rng().random_range(1..=JITTER_S_MAX);
            Cursor(sent.saturating_add((seconds / INTERVAL_S).max(1)))
        }
        _ => Cursor(present),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_never_stands_still() {
        let present = next_cursor(None);
        assert_eq!(next_cursor(Some(0)), present);
        for sent in [present.0, present.0 + 1_000] {
            let next = next_cursor(Some(sent)).0;
            assert!(next > sent && next <= sent + JITTER_S_MAX / INTERVAL_S, "{sent} {next}");
        }
    }
}
