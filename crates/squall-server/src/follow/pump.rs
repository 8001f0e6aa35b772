//! The pump: wakes followers on the runtime, a slice at a time.
//!
//! An engine reports commits on its own thread. Waking thousands of tasks from there would
//! hold up the next commit, and waking them all at once would make every request wait
//! behind all followers. So the engine only marks the ring; this task wakes its followers
//! in slices and lets other work in between. While it does, more events gather, and a
//! follower takes all that have come in one frame.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::follow::hub::SharedRing;

/// Followers woken before other work gets its turn.
const SLICE_FOLLOWERS_MAX: usize = 32;

/// Rings with news, and the signal for the task that serves them.
#[derive(Debug, Default)]
pub(crate) struct Pump {
    /// At most one entry a ring, so never longer than there are rings.
    marked: Mutex<Vec<Arc<SharedRing>>>,
    signal: Notify,
}

impl Pump {
    /// Notes that `ring` has news. Called by the engine.
    pub(crate) fn mark(&self, ring: Arc<SharedRing>) {
        if ring.mark() {
            return; // It is noted already.
        }
        self.marked.lock().unwrap_or_else(PoisonError::into_inner).push(ring);
    }

    /// Starts the waking of what was marked.
    pub(crate) fn signal(&self) {
        self.signal.notify_one();
    }

    /// Serves marked rings until the runtime ends.
    pub(crate) async fn run(self: Arc<Self>) {
        loop {
            self.signal.notified().await;
            let marked =
                std::mem::take(&mut *self.marked.lock().unwrap_or_else(PoisonError::into_inner));
            for ring in marked {
                wake_all(&ring).await;
            }
        }
    }
}

async fn wake_all(ring: &SharedRing) {
    ring.unmark();
    let waiting = ring.lock().take_waiting();
    for slice in waiting.chunks(SLICE_FOLLOWERS_MAX) {
        slice.iter().for_each(|cell| cell.wake());
        tokio::task::yield_now().await;
    }
}
