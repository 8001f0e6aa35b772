//! The record, put together from what every thread brought.

use std::time::{Duration, SystemTime};

use squall_stats::ledger::Ledger;
use squall_stats::record::{
    BENCH_SCHEMA, BenchRecord, GeneratorRecord, LatencyRecord, Limit, Summary, WarmUpRecord,
    WindowRecord,
};

use super::conductor::Conducted;
use super::error::RunError;
use super::one_run::About;
use super::warnings;
use crate::follow::{Appends, Seen};
use crate::host::{clock, usage};
use crate::plan::LoadPlan;
use crate::record::{Recorder, Window};
use crate::spec::Length;
use crate::worker::Outcome;

const SECOND_NS: f64 = 1e9;

/// A thread that was not waiting for more than this share of the window was the limit.
pub(super) const BUSY_MAX: f64 = 0.9;

/// Share of the arrivals that may not be answered inside the window where the rate still counts
/// as kept: some are always on their way when it ends.
const RATE_MISSING_MAX: f64 = 0.02;

/// All threads together.
pub(super) struct Sum {
    pub(super) recorder: Recorder,
    pub(super) seen: Seen,
    pub(super) appends: Appends,
    pub(super) busy_fraction: f64,
    pub(super) cpu: Duration,
    pub(super) window_ns: u64,
}

/// Puts the record together.
///
/// # Errors
/// [`RunError::Ledger`] if the sums disagree, which is a bug.
pub(super) fn record(
    plan: &LoadPlan,
    about: &About,
    address: &str,
    started_at: SystemTime,
    conducted: Conducted,
    outcomes: Vec<Outcome>,
) -> Result<BenchRecord, RunError> {
    let window = measured_window(plan, &conducted, &outcomes);
    let sum = Sum::of(plan, outcomes, window);
    let seconds = sum.window_ns as f64 / SECOND_NS;
    let ledger = sum.ledger();
    ledger.check()?;
    let generator = generator(plan, about, &sum, &conducted);
    let followers = plan.follow.as_ref().map(|_follow| {
        let acked = plan.has_stamps.then_some(conducted.acked);
        sum.seen.record(seconds, acked, &sum.appends)
    });
    let summary = Summary {
        verified_replies_per_second: per_second(sum.recorder.ok_in_window, seconds),
        limit: limit(plan, &ledger, &sum, &generator),
        sentence: String::new(),
    };
    let counts = &sum.recorder.warm_up;
    Ok(BenchRecord {
        schema: BENCH_SCHEMA.to_owned(),
        squall: about.squall.clone(),
        started_at: humantime::format_rfc3339_millis(started_at).to_string(),
        target: plan.target_record(address),
        load: plan.load_record(),
        window: WindowRecord {
            seconds,
            warm_up_seconds: gap(conducted.begin_ns, window.start_ns),
            drain_seconds: gap(window.end_ns, conducted.end_ns),
            interrupted: conducted.is_interrupted,
        },
        summary,
        warm_up: WarmUpRecord {
            sent: counts.sent,
            ok: counts.ok,
            failed: counts.failed,
            unanswered: counts.unanswered,
            steady: conducted.is_steady,
        },
        status_codes: sum.recorder.statuses(),
        latency: LatencyRecord {
            response: sum.recorder.response_times().summary(),
            service: sum.recorder.service.summary(),
            failed: sum.recorder.failed_times.summary(),
            connect: sum.recorder.connect_times.summary(),
        },
        connections: sum.recorder.connections.record_of(),
        bytes: sum.recorder.bytes.clone(),
        body: sum.recorder.sizes.record_of(),
        server: conducted.server.as_ref().and_then(|server| {
            server.record(Duration::from_nanos(sum.window_ns), sum.recorder.ok_in_window)
        }),
        warnings: warnings::of(plan, &sum, &ledger, &generator, &conducted),
        followers,
        generator,
        ledger,
    })
}

/// The window as it was. One of a number of requests ends with the last reply.
fn measured_window(plan: &LoadPlan, conducted: &Conducted, outcomes: &[Outcome]) -> Window {
    let mut window = conducted.window;
    if matches!(plan.length, Length::Requests(_)) && !conducted.is_interrupted {
        let last = outcomes.iter().map(|outcome| outcome.recorder.last_reply_ns).max();
        if let Some(last_ns) = last.filter(|last_ns| *last_ns > window.start_ns) {
            window.end_ns = last_ns.min(window.end_ns);
        }
    }
    window
}

impl Sum {
    fn of(plan: &LoadPlan, outcomes: Vec<Outcome>, window: Window) -> Self {
        let window_ns = window.end_ns.saturating_sub(window.start_ns);
        let mut sum = Self {
            recorder: Recorder::new(plan.arrivals.is_some()),
            seen: Seen::default(),
            appends: Appends::default(),
            busy_fraction: 0.0,
            cpu: Duration::ZERO,
            window_ns,
        };
        for outcome in outcomes {
            let busy = outcome.recorder.waiting.busy_fraction(window_ns);
            sum.busy_fraction = sum.busy_fraction.max(busy);
            sum.cpu += outcome.cpu;
            sum.recorder.merge(&outcome.recorder);
            sum.seen.merge(outcome.seen);
            sum.appends.sent.extend(outcome.stamps_sent);
        }
        sum.appends.unacked = std::mem::take(&mut sum.recorder.unacked);
        sum.appends.unacked.sort_unstable();
        sum
    }

    fn ledger(&self) -> Ledger {
        let counts = &self.recorder.measured;
        Ledger {
            scheduled: counts.sent + self.recorder.missed,
            missed: self.recorder.missed,
            sent: counts.sent,
            ok: counts.ok,
            failed: counts.failed,
            unanswered: counts.unanswered,
            failures: counts.failures.clone(),
        }
    }
}

fn generator(plan: &LoadPlan, about: &About, sum: &Sum, conducted: &Conducted) -> GeneratorRecord {
    let sent = sum.recorder.measured.sent;
    // The process also has a main thread, which waits; what the loops took is exact, how it
    // divides is the process's division.
    let user_share = conducted.cpu.map_or(0.5, |cpu| {
        let all = cpu.cpu().as_secs_f64();
        if all > 0.0 { cpu.cpu_user.as_secs_f64() / all } else { 0.5 }
    });
    let cpu = sum.cpu.as_secs_f64();
    GeneratorRecord {
        busy_fraction: sum.busy_fraction,
        saturated: sum.busy_fraction > BUSY_MAX,
        cpu_user_seconds: cpu * user_share,
        cpu_system_seconds: cpu * (1.0 - user_share),
        cpu_per_request_ns: (sent > 0).then(|| cpu * SECOND_NS / sent as f64),
        lag: sum.recorder.lag.summary(),
        pickup: sum.recorder.pickup.summary(),
        rss_bytes: usage::rss_bytes().unwrap_or(0),
        clock_ns: clock::cost_ns(),
        ceiling_per_second: about.ceiling_per_second,
        pinned_to: plan.pin.clone(),
    }
}

/// What set the rate.
fn limit(plan: &LoadPlan, ledger: &Ledger, sum: &Sum, generator: &GeneratorRecord) -> Limit {
    if ledger.ok == 0 {
        return Limit::Unknown;
    }
    // What even the fastest reply takes is on its way at the end of the window.
    let fastest = sum.recorder.response_times().min().unwrap_or(0) as f64 / SECOND_NS;
    let is_kept = |rate: f64| {
        let due = ledger.scheduled as f64 * (1.0 - RATE_MISSING_MAX) - rate * fastest;
        (sum.recorder.ok_in_window + ledger.failed) as f64 >= due
    };
    match plan.arrivals {
        Some(arrivals) if is_kept(arrivals.rate) => Limit::Rate,
        _ if generator.saturated => Limit::Generator,
        _ => Limit::Server,
    }
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

fn gap(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / SECOND_NS
}
