//! The clock of scripts and records.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

const NS_PER_S: u64 = 1_000_000_000;

/// The time on `CLOCK_MONOTONIC`, in ns: the same clock in every process of this machine.
#[must_use]
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Neither part is ever negative: the clock counts from the boot.
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    seconds * NS_PER_S + u64::try_from(now.tv_nsec).unwrap_or_default()
}

/// Whole nanoseconds; those that fill a `u64`, 584 years, are for ever.
pub(super) fn duration_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A time to wait, as the kernel takes it.
pub(super) fn timespec(wait_ns: u64) -> Timespec {
    let seconds = i64::try_from(wait_ns / NS_PER_S).unwrap_or(i64::MAX);
    let rest = i64::try_from(wait_ns % NS_PER_S).unwrap_or_default();
    Timespec { tv_sec: seconds, tv_nsec: rest }
}
