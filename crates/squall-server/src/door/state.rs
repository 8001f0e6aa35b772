//! What is known of a connection from outside its task: progress, waits, orders to it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::Waker;
use std::time::Instant;

use futures_util::task::AtomicWaker;

use crate::door::loan::Loans;

/// Stands for "not waiting" in the place of an instant.
const NONE: u64 = 0;

/// Stands for an instant that the next sweep writes down, so that no request reads a
/// clock. Deadlines are longer by up to the second between two sweeps.
const UNDATED: u64 = 1;

/// Longest time that a closed connection waits for its peer to close, in ms.
const LINGER_MS: u64 = 1_000;

/// Milliseconds since the door opened, never [`NONE`] or [`UNDATED`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoorClock(Instant);

impl DoorClock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn now_ms(self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(2)
    }
}

/// One connection, as the socket, the answers and the sweep share it.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    /// Requests whose answers are not finished.
    active: AtomicU32,
    /// Of these, answers that end when the peer goes: follows and long-polls.
    waiting: AtomicU32,
    /// When the first byte of a request came that is not whole yet.
    head_since_ms: AtomicU64,
    /// When the connection had nothing to do last.
    idle_since_ms: AtomicU64,
    /// Since when the peer takes nothing.
    blocked_since_ms: AtomicU64,
    /// An answer was made that the kernel may not have taken yet.
    unsent: AtomicBool,
    /// Since when the connection, closed on our side, waits for the peer to close.
    linger_since_ms: AtomicU64,
    /// A request body was refused and may still be coming.
    unread: AtomicBool,
    /// The peer has sent its last byte while a request was being answered.
    reader: AtomicWaker,
    ended: AtomicBool,
    /// A request body that waits for more.
    body: AtomicWaker,
    task: OnceLock<Waker>,
    shutting_down: AtomicBool,
    cut: AtomicBool,
    http2: AtomicBool,
    loans: Loans,
}

/// Limits that the sweep holds a connection to, in ms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadlines {
    pub(crate) head_ms: u64,
    pub(crate) idle_ms: u64,
    pub(crate) write_ms: u64,
}

impl ConnectionState {
    pub(crate) fn new() -> Self {
        Self {
            active: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            head_since_ms: AtomicU64::new(NONE),
            idle_since_ms: AtomicU64::new(UNDATED),
            blocked_since_ms: AtomicU64::new(NONE),
            unsent: AtomicBool::new(false),
            linger_since_ms: AtomicU64::new(NONE),
            unread: AtomicBool::new(false),
            reader: AtomicWaker::new(),
            ended: AtomicBool::new(false),
            body: AtomicWaker::new(),
            task: OnceLock::new(),
            shutting_down: AtomicBool::new(false),
            cut: AtomicBool::new(false),
            http2: AtomicBool::new(false),
            loans: Loans::default(),
        }
    }

    pub(crate) fn set_http2(&self) {
        self.http2.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_http2(&self) -> bool {
        self.http2.load(Ordering::Relaxed)
    }

    /// What HTTP/2 holds of answers.
    pub(crate) fn loans(&self) -> &Loans {
        &self.loans
    }

    /// Bytes have come in.
    pub(crate) fn received(&self) {
        let in_head = self.head_since_ms.load(Ordering::Relaxed) != NONE;
        if !in_head && self.active.load(Ordering::Relaxed) == 0 {
            self.head_since_ms.store(UNDATED, Ordering::Relaxed);
        }
    }

    /// A request was answered at once.
    pub(crate) fn pass_request(&self) {
        self.unsent.store(true, Ordering::Relaxed);
        self.head_since_ms.store(NONE, Ordering::Relaxed);
        self.idle_since_ms.store(UNDATED, Ordering::Relaxed);
    }

    /// A head is whole: its request is being answered.
    pub(crate) fn begin_request(&self) {
        self.head_since_ms.store(NONE, Ordering::Relaxed);
        self.active.fetch_add(1, Ordering::Relaxed);
    }

    /// An answer is finished, or at least handed over.
    pub(crate) fn end_request(&self) {
        // HTTP/2 sends by itself, and notes what it holds as loans.
        if !self.is_http2() {
            self.unsent.store(true, Ordering::Relaxed);
        }
        if self.active.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.idle_since_ms.store(UNDATED, Ordering::Relaxed);
            self.reader.wake();
        }
    }

    /// The kernel has taken all that hyper wrote in a turn; hyper has more only if it
    /// was blocked.
    pub(crate) fn end_turn(&self) {
        let blocked = self.blocked_since_ms.load(Ordering::Relaxed) != NONE;
        if !blocked && self.unsent.load(Ordering::Relaxed) {
            self.unsent.store(false, Ordering::Relaxed);
            self.idle_since_ms.store(UNDATED, Ordering::Relaxed);
            self.reader.wake();
        }
    }

    /// A request body was dropped before its end.
    pub(crate) fn leave_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }

    /// Whether bytes may still come that nobody reads. Closing over them would make the
    /// kernel reset the connection, perhaps before the peer has read the answer.
    pub(crate) fn has_to_linger(&self) -> bool {
        let in_head = !self.is_http2() && self.head_since_ms.load(Ordering::Relaxed) != NONE;
        let has_to = in_head || self.unread.load(Ordering::Relaxed);
        if has_to && self.linger_since_ms.load(Ordering::Relaxed) == NONE {
            self.linger_since_ms.store(UNDATED, Ordering::Relaxed);
        }
        has_to
    }

    /// An answer begins that is worth nothing once the peer has gone.
    pub(crate) fn begin_waiting(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.reader.wake();
    }

    pub(crate) fn end_waiting(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether the end of the peer's bytes must wait: a peer may close its sending side
    /// and still want the answer.
    pub(crate) fn defers_end(&self, waker: &Waker) -> bool {
        let defers = || {
            (self.active.load(Ordering::Acquire) > 0 || self.unsent.load(Ordering::Relaxed))
                && self.waiting.load(Ordering::Acquire) == 0
                && !self.is_http2()
        };
        if !defers() {
            return false;
        }
        self.reader.register(waker);
        self.ended.store(true, Ordering::Release);
        self.body.wake();
        defers()
    }

    /// Whether a body that waits for more waits in vain: hyper has handed on all that came
    /// before the end. If not, `waker` is woken when that changes.
    pub(crate) fn is_at_end(&self, waker: &Waker) -> bool {
        self.body.register(waker);
        self.ended.load(Ordering::Acquire)
    }

    /// The kernel took something.
    pub(crate) fn wrote(&self) {
        if self.blocked_since_ms.load(Ordering::Relaxed) != NONE {
            self.blocked_since_ms.store(NONE, Ordering::Relaxed);
        }
    }

    /// Whether a follow cannot be told to leave, since its peer takes nothing.
    pub(crate) fn is_stalled_follow(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0 && self.is_write_blocked()
    }

    /// Whether the kernel takes nothing more for now.
    pub(crate) fn is_write_blocked(&self) -> bool {
        self.blocked_since_ms.load(Ordering::Relaxed) != NONE
    }

    /// The kernel takes nothing more for now.
    pub(crate) fn write_blocked(&self) {
        if self.blocked_since_ms.load(Ordering::Relaxed) == NONE {
            self.blocked_since_ms.store(UNDATED, Ordering::Relaxed);
        }
    }

    pub(crate) fn register_task(&self, waker: &Waker) {
        if self.task.get().is_none() {
            // Another value can only be the waker of the same task.
            drop(self.task.set(waker.clone()));
        }
    }

    /// Asks the connection to finish what it is answering, and close.
    pub(crate) fn shut_down(&self) {
        self.shutting_down.store(true, Ordering::Release);
        self.wake_task();
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutting_down.load(Ordering::Acquire)
    }

    /// Ends the connection at once.
    pub(crate) fn cut(&self) {
        self.cut.store(true, Ordering::Release);
        self.wake_task();
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    fn wake_task(&self) {
        if let Some(task) = self.task.get() {
            task.wake_by_ref();
        }
    }

    /// Which limit the connection has passed at `now_ms`. Dates what has begun since the
    /// last sweep.
    pub(crate) fn overdue(&self, now_ms: u64, deadlines: &Deadlines) -> Option<&'static str> {
        let passed = |since: u64, limit: u64| since != NONE && now_ms.saturating_sub(since) > limit;
        if passed(dated(&self.blocked_since_ms, now_ms), deadlines.write_ms) {
            return Some("the peer takes nothing");
        }
        if passed(dated(&self.linger_since_ms, now_ms), LINGER_MS) {
            return Some("the peer does not close");
        }
        let lent_ms = self.loans.oldest_ms(now_ms);
        if lent_ms.is_some_and(|lent_ms| lent_ms > deadlines.write_ms) {
            return Some("the peer does not take an answer");
        }
        let sending = self.unsent.load(Ordering::Relaxed) || lent_ms.is_some();
        if sending || self.active.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let head_since = match self.is_http2() {
            true => NONE, // Frames come in outside of any head.
            false => dated(&self.head_since_ms, now_ms),
        };
        if passed(head_since, deadlines.head_ms) {
            return Some("the request head does not come to an end");
        }
        let idle_since = dated(&self.idle_since_ms, now_ms);
        let idle = head_since == NONE && passed(idle_since, deadlines.idle_ms);
        idle.then_some("the connection is idle")
    }
}

/// The instant in `mark`, which is now if it was not written down yet.
fn dated(mark: &AtomicU64, now_ms: u64) -> u64 {
    match mark.compare_exchange(UNDATED, now_ms, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => now_ms,
        Err(found) => found,
    }
}
