//! How long one read may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// Steps of SQLite's virtual machine between two looks at the clock: well under 1 ms.
const STEPS_BETWEEN_LOOKS: i32 = 4_000;

/// The latest moment at which the read under way is still wanted.
pub(super) struct Deadline {
    epoch: Instant,
    read_max: Duration,
    /// Microseconds from `epoch`.
    at: AtomicU64,
}

impl Deadline {
    pub(super) fn new(read_max: Duration) -> Self {
        Self { epoch: Instant::now(), read_max, at: AtomicU64::new(u64::MAX) }
    }

    /// Starts the time of a read.
    pub(super) fn start(&self) {
        let at = self.micros().saturating_add(micros(self.read_max));
        self.at.store(at, Ordering::Relaxed);
    }

    /// Makes `connection` interrupt what runs past the deadline.
    pub(super) fn watch(self: &Arc<Self>, connection: &mut Connection) -> rusqlite::Result<()> {
        let deadline = Arc::clone(self);
        let is_over = move || deadline.micros() > deadline.at.load(Ordering::Relaxed);
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_over))
    }

    fn micros(&self) -> u64 {
        micros(self.epoch.elapsed())
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
