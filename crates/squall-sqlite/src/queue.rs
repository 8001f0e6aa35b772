//! The bounded queue between callers and the committer.
//!
//! Invariant: a job is either refused by [`Queue::push`] or comes out of [`Queue::take`]
//! once. Limits: jobs and bytes. The committer takes everything that waits in one swap
//! and is woken only if it waits.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use squall_stream::observer::UnreadyReason;
use squall_stream::request::StoreError;

use crate::job::Job;

/// Jobs that the committer would have at least while those who bring them are busy. A
/// commit costs as much processor time as a few dozen appends, whatever its size.
const GATHERED_MIN: usize = 32;
/// The same where nobody has been idle for a while.
const GATHERED_MAX: usize = 256;
/// Jobs that only many callers bring while one batch is committed.
const CROWD_MIN: usize = 48;
/// Batches without an idle moment after which more is gathered.
const BUSY_BATCHES: u32 = 4;
/// Length of one nap, in which jobs wait for others.
const GATHER_MAX: Duration = Duration::from_micros(500);
/// Naps without a job after which the committer goes to sleep, if nobody said before that
/// nothing comes.
const NAPS_MAX: u32 = 4;

/// The bounds of a queue and of what is taken from it at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueLimits {
    pub(crate) jobs_max: usize,
    pub(crate) bytes_max: usize,
    pub(crate) batch_jobs_max: usize,
    pub(crate) batch_bytes_max: usize,
}

/// What [`Queue::take`] came back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Jobs are in the batch.
    Jobs,
    /// None came in time.
    Nothing,
    /// None will ever come again.
    Closed,
}

pub(crate) struct Queue {
    limits: QueueLimits,
    inner: Mutex<Inner>,
    wake: Condvar,
}

struct Inner {
    jobs: VecDeque<Job>,
    bytes: usize,
    refusals: u64,
    waiting: Waiting,
    /// Those who bring jobs have nothing else to do, and have brought none since.
    idle: bool,
    gather: Gather,
    /// What a caller is told from now on.
    closed: Option<StoreError>,
}

/// How the committer waits in [`Queue::take`], until somebody wakes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// It is at work, or has been woken.
    No,
    /// For a moment: only enough jobs wake it before.
    Naps,
    /// Until something comes.
    Sleeps,
}

/// How many jobs are worth a commit while those who bring them go on working.
///
/// On a processor that they share with the committer, each commit takes time from them. If
/// they never rest, fewer and larger commits leave more of it; if they rest while one is
/// synced, it should have been taken sooner.
#[derive(Debug)]
struct Gather {
    enough: usize,
    busy_batches: u32,
    /// Somebody was idle since the last batch was taken.
    rested: bool,
}

impl Gather {
    fn new() -> Self {
        Self { enough: GATHERED_MIN, busy_batches: 0, rested: false }
    }

    fn taken(&mut self) {
        if mem::take(&mut self.rested) {
            self.busy_batches = 0;
            self.enough = (self.enough / 2).max(GATHERED_MIN);
            return;
        }
        self.busy_batches += 1;
        if self.busy_batches == BUSY_BATCHES {
            self.busy_batches = 0;
            self.enough = (self.enough * 2).min(GATHERED_MAX);
        }
    }
}

impl Queue {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            inner: Mutex::new(Inner {
                jobs: VecDeque::new(),
                bytes: 0,
                refusals: 0,
                waiting: Waiting::No,
                idle: false,
                gather: Gather::new(),
                closed: None,
            }),
            wake: Condvar::new(),
        }
    }

    /// Hands a job over, or says at once why not.
    pub(crate) fn push(&self, job: Job) -> Result<(), StoreError> {
        let bytes = job.bytes();
        let mut inner = self.lock();
        if let Some(error) = &inner.closed {
            return Err(error.clone());
        }
        let full = inner.jobs.len() >= self.limits.jobs_max
            || (inner.bytes + bytes > self.limits.bytes_max && !inner.jobs.is_empty());
        if full {
            inner.refusals += 1;
            return Err(StoreError::QueueFull { queue: "append" });
        }
        inner.bytes += bytes;
        inner.jobs.push_back(job);
        inner.idle = false;
        let wake = match inner.waiting {
            Waiting::No => false,
            Waiting::Naps => inner.has_gathered(&self.limits),
            Waiting::Sleeps => true,
        };
        self.wake_if(wake, inner);
        Ok(())
    }

    /// Says that whoever brings jobs has nothing else to do now: what waits is all there is.
    pub(crate) fn idle(&self) {
        let mut inner = self.lock();
        inner.idle = true;
        inner.gather.rested = true;
        let wake = !inner.jobs.is_empty() && inner.waiting != Waiting::No;
        self.wake_if(wake, inner);
    }

    /// Wakes the committer once, without making it wait for the lock.
    fn wake_if(&self, wake: bool, mut inner: MutexGuard<'_, Inner>) {
        if wake {
            inner.waiting = Waiting::No;
            drop(inner);
            self.wake.notify_one();
        }
    }

    /// Moves what waits into `batch`, which must be empty, up to the batch limits. Waits
    /// until `until` if nothing does.
    ///
    /// A few jobs wait for more as long as those who bring them are at work, but no longer
    /// than for two naps of [`GATHER_MAX`]: the one that the first job met, and its own.
    pub(crate) fn take(&self, batch: &mut VecDeque<Job>, until: Instant) -> Taken {
        let mut inner = self.lock();
        let mut naps = 0;
        while !inner.is_enough(&self.limits) {
            if inner.closed.is_some() {
                return Taken::Closed;
            }
            let left = until.saturating_duration_since(Instant::now());
            // While jobs keep coming it naps, so that a push need not wake it for each.
            let naps_on = !inner.jobs.is_empty() || (!inner.idle && naps < NAPS_MAX);
            if left.is_zero() && !naps_on {
                return Taken::Nothing;
            }
            let found = inner.jobs.len();
            inner.waiting = if naps_on { Waiting::Naps } else { Waiting::Sleeps };
            let pause = if naps_on { GATHER_MAX } else { left };
            let woken = self.wake.wait_timeout(inner, pause);
            let (woken, wait) = woken.unwrap_or_else(PoisonError::into_inner);
            inner = woken;
            inner.waiting = Waiting::No;
            naps += 1;
            if wait.timed_out() && found > 0 {
                break;
            }
        }
        if inner.jobs.len() >= CROWD_MIN {
            // Many callers: whoever shares the processor may be about to bring more, and
            // goes first. If there is nobody, this comes back at once.
            drop(inner);
            std::thread::yield_now();
            inner = self.lock();
        }
        inner.gather.taken();
        inner.move_to(batch, &self.limits);
        Taken::Jobs
    }

    /// Sleeps for `pause`, or until the queue is closed. Jobs do not wake it.
    /// Returns whether the queue is closed.
    pub(crate) fn pause(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        let mut inner = self.lock();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if inner.closed.is_some() || left.is_zero() {
                return inner.closed.is_some();
            }
            let woken = self.wake.wait_timeout(inner, left);
            inner = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes no more jobs; those that wait still come out.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        let closed = || StoreError::Unready(UnreadyReason::ShuttingDown);
        inner.closed.get_or_insert_with(closed);
        drop(inner);
        self.wake.notify_all();
    }

    /// Takes no more jobs because of `reason`; the outcome of those that wait is unknown.
    pub(crate) fn fail(&self, reason: &str) {
        let mut inner = self.lock();
        inner.closed = Some(StoreError::Failed { reason: reason.to_owned() });
        inner.bytes = 0;
        let jobs = mem::take(&mut inner.jobs);
        drop(inner);
        self.wake.notify_all();
        for job in jobs {
            job.refuse(StoreError::OutcomeUnknown);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().jobs.is_empty()
    }

    /// Jobs that wait, their bytes, and how many were refused since the start.
    pub(crate) fn gauges(&self) -> (u64, u64, u64) {
        let inner = self.lock();
        (inner.jobs.len() as u64, inner.bytes as u64, inner.refusals)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Whether what waits is to be taken now.
    fn is_enough(&self, limits: &QueueLimits) -> bool {
        let all = self.idle || self.closed.is_some();
        self.has_gathered(limits) || (all && !self.jobs.is_empty())
    }

    /// Whether what waits is worth a commit: many jobs, or so many or large ones that the
    /// next might be refused.
    fn has_gathered(&self, limits: &QueueLimits) -> bool {
        let jobs = self.gather.enough.min(limits.batch_jobs_max).min(limits.jobs_max.div_ceil(2));
        let bytes = limits.batch_bytes_max.min(limits.bytes_max / 2);
        self.jobs.len() >= jobs || (self.bytes >= bytes && !self.jobs.is_empty())
    }

    fn move_to(&mut self, batch: &mut VecDeque<Job>, limits: &QueueLimits) {
        if self.jobs.len() <= limits.batch_jobs_max && self.bytes <= limits.batch_bytes_max {
            mem::swap(&mut self.jobs, batch);
            self.bytes = 0;
            return;
        }
        let mut bytes = 0;
        while let Some(job) = self.jobs.pop_front() {
            bytes += job.bytes();
            if !batch.is_empty() && bytes > limits.batch_bytes_max {
                self.jobs.push_front(job);
                return;
            }
            self.bytes -= job.bytes();
            batch.push_back(job);
            if batch.len() == limits.batch_jobs_max {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Ticket;
    use squall_stream::StreamName;
    use squall_stream::request::Append;
    use squall_stream::{ContentType, Offset};

    fn append(bytes: usize) -> Job {
        let name = StreamName::parse("s").unwrap();
        let events = vec![vec![0; bytes].into()];
        Job::Append(Ticket::new(Append::new(name, ContentType::text_plain(), events)).0)
    }

    fn queue(jobs_max: usize, bytes_max: usize) -> Queue {
        Queue::new(QueueLimits { jobs_max, bytes_max, batch_jobs_max: 2, batch_bytes_max: 10_000 })
    }

    #[test]
    fn the_queue_is_bounded_by_jobs_and_by_bytes() {
        let full = || Err(StoreError::QueueFull { queue: "append" });
        let by_jobs = queue(2, 10_000);
        assert_eq!(by_jobs.push(append(1)), Ok(()));
        assert_eq!(by_jobs.push(append(1)), Ok(()));
        assert_eq!(by_jobs.push(append(1)), full());
        let by_bytes = queue(9, 10_000);
        assert_eq!(by_bytes.push(append(20_000)), Ok(()), "one may be larger");
        assert_eq!(by_bytes.push(append(1)), full());
        assert_eq!(by_bytes.gauges().2, 1);
    }

    #[test]
    fn batches_keep_to_their_limits_and_to_the_order() {
        let queue = queue(9, 100_000);
        for bytes in [1, 2, 3, 20_000, 5] {
            queue.push(append(bytes)).unwrap();
        }
        let mut sizes: Vec<Vec<usize>> = Vec::new();
        let mut batch = VecDeque::new();
        while queue.take(&mut batch, Instant::now()) == Taken::Jobs {
            sizes.push(
                batch
                    .drain(..)
                    .map(|job| job.bytes() - 256 - size_of::<squall_stream::Event>())
                    .collect(),
            );
        }
        let expected: [Vec<usize>; 4] = [vec![1, 2], vec![3], vec![20_000], vec![5]];
        assert_eq!(sizes, expected);
        assert_eq!(queue.gauges(), (0, 0, 0));
    }

    #[test]
    fn a_closed_queue_gives_what_waits_and_then_ends() {
        let queue = queue(9, 100_000);
        queue.push(append(1)).unwrap();
        queue.close();
        let refused = Err(StoreError::Unready(UnreadyReason::ShuttingDown));
        assert_eq!(queue.push(append(1)), refused);
        let mut batch = VecDeque::new();
        let late = Instant::now() + Duration::from_secs(60);
        assert_eq!(queue.take(&mut batch, late), Taken::Jobs);
        batch.clear();
        assert_eq!(queue.take(&mut batch, late), Taken::Closed);
        assert!(queue.pause(Duration::from_secs(60)));
    }

    #[tokio::test]
    async fn a_failed_queue_leaves_outcomes_unknown() {
        let queue = queue(9, 100_000);
        let name = StreamName::parse("s").unwrap();
        let before = Offset::START;
        let (ticket, waiting) = Ticket::new(crate::job::Trim { name, before });
        queue.push(Job::Trim(ticket)).unwrap();
        queue.fail("the disk");
        assert_eq!(waiting.outcome().await, Err(StoreError::OutcomeUnknown.into()));
        assert!(queue.push(append(1)).is_err());
    }
}
