//! What a thread shows of itself while it runs.

use squall_stats::histogram::LatencyHistogram;

/// The state of a thread's recorder at one moment, for the progress line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// Verified replies, warm-up included.
    pub(crate) ok: u64,
    pub(crate) failed: u64,
    /// Requests that are due and were not sent yet.
    pub(crate) late: u64,
    /// Events that followers received.
    pub(crate) events: u64,
    /// Response times, warm-up included.
    pub(crate) response: LatencyHistogram,
}

impl Snapshot {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.ok += other.ok;
        self.failed += other.failed;
        self.late += other.late;
        self.events += other.events;
        self.response.merge(&other.response);
    }
}
