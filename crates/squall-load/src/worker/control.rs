//! What the main thread tells the workers, and what they tell it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

use mio::Waker;

use crate::record::{Snapshot, Window};

/// Not known yet, or never.
const UNKNOWN: u64 = u64::MAX;

/// The switches of a run. Moments are nanoseconds of the run's clock.
#[derive(Debug)]
pub(crate) struct Control {
    begin_ns: AtomicU64,
    window_start_ns: AtomicU64,
    window_end_ns: AtomicU64,
    /// Until when followers may wait for what was appended; set once all requests are done.
    settle_until_ns: AtomicU64,
    /// Stamped appends that were acknowledged, all threads together; set with it.
    acked: AtomicU64,
    is_stopped: AtomicBool,
    wakers: Vec<Waker>,
    /// What each thread shows of itself, about once a second.
    snapshots: Vec<Mutex<Snapshot>>,
    /// Verified replies of each thread, a few times a second.
    replies: Vec<AtomicU64>,
}

/// What a worker says to the main thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// Every connection and follower has been tried.
    Opened,
    /// Every connection has failed to open, again and again.
    Hopeless,
    /// All requests are done.
    Drained {
        /// Stamped appends that were acknowledged.
        acked: u64,
    },
}

/// What the switches say now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) begin_ns: u64,
    pub(crate) window: Window,
    pub(crate) settle_until_ns: u64,
    pub(crate) is_stopped: bool,
}

/// The way back to the main thread. Each worker sends each message at most once.
pub(crate) type Messages = SyncSender<(usize, Message)>;

impl Control {
    pub(crate) fn new(wakers: Vec<Waker>) -> Self {
        let threads = wakers.len();
        Self {
            begin_ns: AtomicU64::new(UNKNOWN),
            window_start_ns: AtomicU64::new(UNKNOWN),
            window_end_ns: AtomicU64::new(UNKNOWN),
            settle_until_ns: AtomicU64::new(UNKNOWN),
            acked: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
            wakers,
            snapshots: (0..threads).map(|_| Mutex::default()).collect(),
            replies: (0..threads).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// A worker's look at the switches: a few loads, no lock.
    pub(crate) fn view(&self) -> View {
        // First: whoever sees the stop sees the window that it ended, too.
        let is_stopped = self.is_stopped.load(Ordering::Acquire);
        View {
            begin_ns: self.begin_ns.load(Ordering::Acquire),
            window: Window {
                start_ns: self.window_start_ns.load(Ordering::Acquire),
                end_ns: self.window_end_ns.load(Ordering::Acquire),
            },
            settle_until_ns: self.settle_until_ns.load(Ordering::Acquire),
            is_stopped,
        }
    }

    /// Lets the load begin, with the window as far as it is known.
    pub(crate) fn begin(&self, begin_ns: u64, window: Window) {
        self.window_start_ns.store(window.start_ns, Ordering::Release);
        self.window_end_ns.store(window.end_ns, Ordering::Release);
        self.begin_ns.store(begin_ns, Ordering::Release);
        self.wake();
    }

    /// Opens the window.
    pub(crate) fn set_window(&self, window: Window) {
        self.window_end_ns.store(window.end_ns, Ordering::Release);
        self.window_start_ns.store(window.start_ns, Ordering::Release);
        self.wake();
    }

    /// Ends the window.
    pub(crate) fn end_window(&self, end_ns: u64) {
        // A window that never opened has no length.
        let start_ns = self.window_start_ns.load(Ordering::Acquire);
        self.window_start_ns.store(start_ns.min(end_ns), Ordering::Release);
        self.window_end_ns.store(end_ns, Ordering::Release);
        self.wake();
    }

    /// Lets followers wait for the rest of what was appended.
    pub(crate) fn settle(&self, acked: u64, until_ns: u64) {
        self.acked.store(acked, Ordering::Release);
        self.settle_until_ns.store(until_ns, Ordering::Release);
        self.wake();
    }

    /// Stamped appends that were acknowledged; meaningful once followers settle.
    pub(crate) fn acked(&self) -> u64 {
        self.acked.load(Ordering::Acquire)
    }

    /// Ends everything at once.
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
        self.wake();
    }

    /// Publishes the number of verified replies of worker `index`.
    pub(crate) fn publish_replies(&self, index: usize, replies: u64) {
        if let Some(slot) = self.replies.get(index) {
            slot.store(replies, Ordering::Relaxed);
        }
    }

    /// Verified replies of all workers.
    pub(crate) fn replies(&self) -> u64 {
        self.replies.iter().map(|replies| replies.load(Ordering::Relaxed)).sum()
    }

    /// Publishes how worker `index` stands; skipped if somebody is looking right now.
    pub(crate) fn publish(&self, index: usize, snapshot: impl FnOnce() -> Snapshot) {
        if let Some(mut slot) = self.snapshots.get(index).and_then(|slot| slot.try_lock().ok()) {
            *slot = snapshot();
        }
    }

    /// How all workers stand together.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut all = Snapshot::default();
        for slot in &self.snapshots {
            match slot.lock() {
                Ok(snapshot) => all.merge(&snapshot),
                Err(poisoned) => all.merge(&poisoned.into_inner()),
            }
        }
        all
    }

    fn wake(&self) {
        for waker in &self.wakers {
            // A worker that cannot be woken looks at the switches with its next tick.
            waker.wake().ok();
        }
    }
}
