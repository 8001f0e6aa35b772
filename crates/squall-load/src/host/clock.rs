//! The clock of everything: both sides of a measurement read the same one.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds in a second.
const SECOND_NS: u64 = 1_000_000_000;
/// Batches that are timed. The best counts, since only disturbance makes one slower.
const BATCHES: u32 = 8;
/// Readings in a batch: enough that the two readings around it vanish.
const BATCH_READINGS: u32 = 1_000;

/// Nanoseconds since some moment before the start, the same one for all processes of this
/// machine. Never runs backwards (`CLOCK_MONOTONIC`).
#[must_use]
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Neither part of this clock is ever negative.
    now.tv_sec.unsigned_abs() * SECOND_NS + now.tv_nsec.unsigned_abs()
}

/// A length of time in nanoseconds; what does not fit is as long as can be.
#[must_use]
pub fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

/// What one call of [`now_ns`] costs here, in ns. Takes well under a millisecond.
#[must_use]
pub fn cost_ns() -> f64 {
    let best = (0..BATCHES).map(|_| batch_ns()).min().unwrap_or(0);
    // A batch takes far less than 2^32 ns; if it were stopped for longer, another is the best.
    f64::from(u32::try_from(best).unwrap_or(u32::MAX)) / f64::from(BATCH_READINGS)
}

fn batch_ns() -> u64 {
    let start = now_ns();
    for _ in 0..BATCH_READINGS {
        black_box(now_ns());
    }
    now_ns() - start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_runs_backwards() {
        let mut last = now_ns();
        for _ in 0..10_000 {
            let now = now_ns();
            assert!(now >= last);
            last = now;
        }
        assert!(last > 0);
    }

    #[test]
    fn a_reading_has_a_cost() {
        let cost = cost_ns();
        assert!(cost > 0.0 && cost.is_finite(), "{cost}");
    }
}
