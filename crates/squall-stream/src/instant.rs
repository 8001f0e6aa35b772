//! Stored instants: whole milliseconds since 1970 in UTC.

use std::sync::Arc;

/// Says what time it is; the caller of an engine provides it.
///
/// An engine calls it under a lock or on its only writing thread, so it must be quick.
pub type Clock = Arc<dyn Fn() -> UnixMillis + Send + Sync>;

/// A wall-clock instant in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Only for what is stored (created, appended, expires). Waits use a monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub u64);

impl UnixMillis {
    /// This instant and `millis` more, or the last representable one.
    #[must_use]
    pub fn plus(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to this instant; zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
