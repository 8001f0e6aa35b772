//! One thread's recorder.

use std::collections::BTreeMap;

use squall_stats::histogram::LatencyHistogram;
use squall_stats::ledger::Failure;
use squall_stats::record::BytesRecord;

use super::connections::Connections;
use super::counts::{Counts, Sizes};
use super::snapshot::Snapshot;
use super::waiting::Waiting;
use crate::exchange::Pending;

/// Appends without an ack that are remembered by number, for the count of lost events.
pub(crate) const UNACKED_MAX: usize = 1 << 20;

/// Statuses have three digits.
const STATUSES: usize = 1_000;

/// The measured window, in nanoseconds of the run's clock; `u64::MAX` for what is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

impl Window {
    pub(crate) fn contains(&self, now_ns: u64) -> bool {
        (self.start_ns..self.end_ns).contains(&now_ns)
    }
}

/// A whole reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body_bytes: u64,
    /// The check that it did not pass.
    pub(crate) failure: Option<Failure>,
}

/// Everything that one thread measured. Shared with nobody; merged at the end.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) window: Window,
    /// In an open loop the response time is not the service time.
    is_open_loop: bool,
    /// Before the window: a histogram that only the progress line sees.
    pub(crate) warm_up: Counts,
    warm_up_times: LatencyHistogram,
    pub(crate) measured: Counts,
    /// Verified replies that arrived inside the window.
    pub(crate) ok_in_window: u64,
    pub(crate) missed: u64,
    pub(crate) response: LatencyHistogram,
    pub(crate) service: LatencyHistogram,
    pub(crate) failed_times: LatencyHistogram,
    pub(crate) connect_times: LatencyHistogram,
    pub(crate) lag: LatencyHistogram,
    /// How long what came in waited for this thread, as part of the times above.
    pub(crate) pickup: LatencyHistogram,
    statuses: Vec<u64>,
    pub(crate) sizes: Sizes,
    pub(crate) bytes: BytesRecord,
    pub(crate) connections: Connections,
    pub(crate) waiting: Waiting,
    /// Acknowledged appends that carried a stamp, warm-up included.
    pub(crate) acked: u64,
    /// Stamped appends without an ack, as (publisher, sequence).
    pub(crate) unacked: Vec<(u32, u32)>,
    /// When the last reply came.
    pub(crate) last_reply_ns: u64,
}

impl Recorder {
    pub(crate) fn new(is_open_loop: bool) -> Self {
        Self {
            window: Window { start_ns: u64::MAX, end_ns: u64::MAX },
            is_open_loop,
            warm_up: Counts::default(),
            warm_up_times: LatencyHistogram::new(),
            measured: Counts::default(),
            ok_in_window: 0,
            missed: 0,
            response: LatencyHistogram::new(),
            service: LatencyHistogram::new(),
            failed_times: LatencyHistogram::new(),
            connect_times: LatencyHistogram::new(),
            lag: LatencyHistogram::new(),
            pickup: LatencyHistogram::new(),
            statuses: vec![0; STATUSES],
            sizes: Sizes::default(),
            bytes: BytesRecord::default(),
            connections: Connections::default(),
            waiting: Waiting::default(),
            acked: 0,
            unacked: Vec::new(),
            last_reply_ns: 0,
        }
    }

    /// A request is handed out.
    pub(crate) fn sent(&mut self, pending: &Pending, bytes: usize, is_reused: bool) {
        self.connections.reused += u64::from(is_reused);
        if pending.is_measured {
            self.measured.sent += 1;
            self.bytes.sent += bytes as u64;
        } else {
            self.warm_up.sent += 1;
        }
    }

    /// Bytes came in at `at_ns`, by the kernel's word, if this is a sample, at `arrived_ns`.
    pub(crate) fn received(&mut self, bytes: usize, at_ns: u64, arrived_ns: Option<u64>) {
        if self.window.contains(at_ns) {
            self.bytes.received += bytes as u64;
            if let Some(arrived_ns) = arrived_ns {
                self.pickup.record(at_ns.saturating_sub(arrived_ns));
            }
        }
    }

    /// A request was answered, well or not.
    pub(crate) fn answered(&mut self, pending: &Pending, reply: Reply, now_ns: u64) {
        self.last_reply_ns = now_ns;
        if pending.is_measured {
            if let Some(count) = self.statuses.get_mut(usize::from(reply.status)) {
                *count += 1;
            }
            self.sizes.record(reply.body_bytes);
        }
        if let Some(failure) = reply.failure {
            return self.failed(pending, failure, now_ns);
        }
        self.acked += u64::from(pending.stamp.is_some());
        // A reply to a request of the warm-up arrived inside the window all the same.
        self.ok_in_window += u64::from(self.window.contains(now_ns));
        let service_ns = now_ns.saturating_sub(pending.started_ns);
        if !pending.is_measured {
            self.warm_up.ok += 1;
            self.warm_up_times.record(service_ns);
            return;
        }
        self.measured.ok += 1;
        self.service.record(service_ns);
        if self.is_open_loop {
            self.response.record(now_ns.saturating_sub(pending.intended_ns));
        }
    }

    /// A request failed.
    pub(crate) fn failed(&mut self, pending: &Pending, failure: Failure, now_ns: u64) {
        self.not_acked(pending);
        let counts = if pending.is_measured { &mut self.measured } else { &mut self.warm_up };
        counts.failed += 1;
        counts.failures.record(failure);
        if pending.is_measured {
            self.failed_times.record(now_ns.saturating_sub(pending.started_ns));
        }
    }

    /// The run ended before anything was known of a request.
    pub(crate) fn unanswered(&mut self, pending: &Pending) {
        self.not_acked(pending);
        let counts = if pending.is_measured { &mut self.measured } else { &mut self.warm_up };
        counts.unanswered += 1;
    }

    /// Replies by status, those that never came left out.
    pub(crate) fn statuses(&self) -> BTreeMap<u16, u64> {
        let seen = (0..).zip(&self.statuses).filter(|(_, count)| **count > 0);
        seen.map(|(status, count)| (status, *count)).collect()
    }

    /// Adds what another thread measured.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.warm_up.merge(&other.warm_up);
        self.warm_up_times.merge(&other.warm_up_times);
        self.measured.merge(&other.measured);
        self.ok_in_window += other.ok_in_window;
        self.missed += other.missed;
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.failed_times.merge(&other.failed_times);
        self.connect_times.merge(&other.connect_times);
        self.lag.merge(&other.lag);
        self.pickup.merge(&other.pickup);
        self.statuses.iter_mut().zip(&other.statuses).for_each(|(sum, count)| *sum += count);
        self.sizes.merge(&other.sizes);
        self.bytes.sent += other.bytes.sent;
        self.bytes.received += other.bytes.received;
        self.connections.merge(&other.connections);
        self.acked += other.acked;
        self.unacked.extend_from_slice(&other.unacked);
        self.last_reply_ns = self.last_reply_ns.max(other.last_reply_ns);
    }

    /// Response times of the window; in a closed loop they are the service times.
    pub(crate) fn response_times(&self) -> &LatencyHistogram {
        if self.is_open_loop { &self.response } else { &self.service }
    }

    /// How things stand now.
    pub(crate) fn snapshot(&self, events: u64, late: u64) -> Snapshot {
        let mut response = self.response_times().clone();
        response.merge(&self.warm_up_times);
        Snapshot {
            ok: self.warm_up.ok + self.measured.ok,
            failed: self.warm_up.failed + self.measured.failed,
            late,
            events,
            response,
        }
    }

    fn not_acked(&mut self, pending: &Pending) {
        if let Some(stamp) = pending.stamp
            && self.unacked.len() < UNACKED_MAX
        {
            self.unacked.push(stamp);
        }
    }
}
