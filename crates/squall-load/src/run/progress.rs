//! What a run shows of itself while it goes on.

use std::time::Duration;

use squall_stats::histogram::Quantile;

use super::conductor::Times;
use crate::record::Snapshot;

/// What the run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Connections are opened.
    Opening,
    /// The load before the window.
    WarmUp,
    /// The window.
    Measuring,
    /// What is on its way is waited for.
    Draining,
}

/// How a run stands, about once a second.
#[derive(Clone, Debug)]
pub struct RunProgress {
    /// What the run is doing.
    pub phase: Phase,
    /// Time since the phase began.
    pub elapsed: Duration,
    /// How long the phase will take, where that is known.
    pub total: Option<Duration>,
    /// Verified replies a second since the last report.
    pub replies_per_second: f64,
    /// Median response time since the last report.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the response time since the last report.
    pub p99_ns: Option<u64>,
    /// Requests that failed so far.
    pub failed: u64,
    /// Arrivals that are due by now and were not sent yet, in an open loop.
    pub missed: u64,
    /// Events a second that followers received since the last report; `None` without followers.
    pub events_per_second: Option<f64>,
}

/// Turns snapshots into progress: what is new since the last.
#[derive(Debug)]
pub(super) struct Reporter {
    last: Snapshot,
    last_ns: u64,
}

impl Reporter {
    /// A reporter whose first report covers the time from `now_ns` on.
    pub(super) fn new(now_ns: u64) -> Self {
        Self { last: Snapshot::default(), last_ns: now_ns }
    }

    pub(super) fn report(
        &mut self,
        snapshot: Snapshot,
        times: Times,
        has_followers: bool,
        now_ns: u64,
    ) -> RunProgress {
        let seconds = now_ns.saturating_sub(self.last_ns) as f64 / 1e9;
        let rate = |new: u64, old: u64| {
            if seconds > 0.0 { new.saturating_sub(old) as f64 / seconds } else { 0.0 }
        };
        let recent = snapshot.response.since(&self.last.response);
        let progress = RunProgress {
            phase: times.phase,
            elapsed: Duration::from_nanos(now_ns.saturating_sub(times.since_ns)),
            total: times.total,
            replies_per_second: rate(snapshot.ok, self.last.ok),
            p50_ns: recent.value_at(Quantile::P50).ok(),
            p99_ns: recent.value_at(Quantile::P99).ok(),
            failed: snapshot.failed,
            missed: snapshot.late,
            events_per_second: has_followers.then(|| rate(snapshot.events, self.last.events)),
        };
        self.last = snapshot;
        self.last_ns = now_ns;
        progress
    }
}
