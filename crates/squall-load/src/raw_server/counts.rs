//! What the server has done so far, readable from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a [`RawServer`](super::RawServer) has done since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawServerCounts {
    /// Connections that were accepted, also those that were refused for want of room.
    pub connections: u64,
    /// Requests that were read in full, and answered or about to be.
    pub requests: u64,
}

/// Reads the counts of a server that runs in another thread.
#[derive(Clone, Debug, Default)]
pub struct RawServerWatch {
    shared: Arc<Shared>,
}

/// Written by the server only, once a turn of its loop. Each count stands for itself, so no
/// order between them is needed.
#[derive(Debug, Default)]
struct Shared {
    connections: AtomicU64,
    requests: AtomicU64,
}

impl RawServerWatch {
    /// The counts at the end of the server's last turn.
    #[must_use]
    pub fn counts(&self) -> RawServerCounts {
        RawServerCounts {
            connections: self.shared.connections.load(Ordering::Relaxed),
            requests: self.shared.requests.load(Ordering::Relaxed),
        }
    }

    pub(super) fn publish(&self, counts: RawServerCounts) {
        self.shared.connections.store(counts.connections, Ordering::Relaxed);
        self.shared.requests.store(counts.requests, Ordering::Relaxed);
    }
}
