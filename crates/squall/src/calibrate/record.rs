//! What a calibration found, as data: the same in memory, as JSON, and in the cache.

use serde::{Deserialize, Serialize};
use squall_stats::record::{BenchRecord, LatencySummary, Limit};

use super::machine::Machine;

/// The value of `schema`: its number is raised whenever a key changes its meaning or goes.
pub(super) const SCHEMA: &str = "squall.calibration/1";

/// A server of one thread that takes more of a core was the limit, as with the generator.
const SERVER_CORES_MAX: f64 = 0.9;

/// All that a calibration found. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Calibration {
    /// Always [`SCHEMA`].
    pub(super) schema: String,
    /// When the first step began, RFC 3339 in UTC; `null` if none was finished.
    pub(super) started_at: Option<String>,
    /// Whether a signal ended it before the last step.
    pub(super) interrupted: bool,
    /// What it holds for.
    pub(super) machine: Machine,
    /// How each step was measured.
    pub(super) setup: Setup,
    /// The finished steps, in order.
    pub(super) steps: Vec<Step>,
    /// What the closed loops reached.
    pub(super) ceilings: Vec<Ceiling>,
    /// What one reading of the clock costs.
    pub(super) clock_ns: f64,
    /// How late requests left in the step at a low rate; `null` if it was not finished.
    pub(super) timer_lag: Option<LatencySummary>,
    /// What the numbers mean, one sentence each.
    pub(super) meaning: Vec<String>,
}

/// What all steps have in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Setup {
    /// Length of a measured window.
    pub(super) seconds: f64,
    /// Load before each window that is not counted.
    pub(super) warm_up_seconds: f64,
    /// Connections of the generator.
    pub(super) connections: usize,
    /// Threads of the generator.
    pub(super) generator_threads: usize,
    /// Processors of the generator; empty if there is only one for both.
    pub(super) generator_cpus: Vec<u32>,
    /// The server's processor; `null` if there is only one for both.
    pub(super) server_cpu: Option<u32>,
}

/// One load, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Step {
    /// What was done, in words.
    pub(super) name: String,
    /// Most requests on their way on one connection.
    pub(super) pipeline: usize,
    /// Arrivals a second; `null` in a closed loop.
    pub(super) rate: Option<f64>,
    /// Replies that passed and arrived inside the window, over its length.
    pub(super) verified_replies_per_second: f64,
    /// Requests that were due in the window.
    pub(super) scheduled: u64,
    /// Those of them that were never sent.
    pub(super) missed: u64,
    /// Requests that failed.
    pub(super) failed: u64,
    /// From the intended start to the last byte of the reply.
    pub(super) response: LatencySummary,
    /// How late requests left although a connection was free. Empty in a closed loop.
    pub(super) lag: LatencySummary,
    /// Share of the window in which the generator's busiest thread was not waiting, 0 to 1.
    pub(super) generator_busy_fraction: f64,
    /// Processor time of the generator over requests sent.
    pub(super) generator_cpu_per_request_ns: Option<f64>,
    /// Processor time of the server over verified replies.
    pub(super) server_cpu_per_reply_ns: Option<f64>,
    /// Cores that the server kept busy in the mean; its one thread has at most one.
    pub(super) server_cores: Option<f64>,
    /// What set the rate.
    pub(super) limit: StepLimit,
}

/// What set the rate of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StepLimit {
    /// The generator's busiest thread was hardly ever waiting.
    Generator,
    /// The server's thread was hardly ever waiting.
    Server,
    /// Both were so.
    Both,
    /// The schedule, which was kept.
    Rate,
    /// Neither: they shared a processor, or other processes or the host took the time.
    Machine,
}

/// Verified replies a second that were reached with a depth of pipelining.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Ceiling {
    /// Most requests on their way on one connection.
    pub(super) pipeline: usize,
    /// What a closed loop reached.
    pub(super) verified_replies_per_second: f64,
}

impl StepLimit {
    /// What set the rate of the bench that made `record`. A record by itself cannot tell a
    /// server that is busy from one that waits, which is one thread here.
    fn of(record: &BenchRecord) -> Self {
        let server_is_busy =
            record.server.as_ref().is_some_and(|server| server.cores > SERVER_CORES_MAX);
        match (record.summary.limit, server_is_busy) {
            (Limit::Rate, _) => Self::Rate,
            (Limit::Generator, false) => Self::Generator,
            (Limit::Generator, true) => Self::Both,
            (Limit::Server | Limit::Unknown, true) => Self::Server,
            (Limit::Server | Limit::Unknown, false) => Self::Machine,
        }
    }
}

impl Step {
    /// The step called `name`, of which a bench made `record`.
    pub(super) fn of(name: String, pipeline: usize, record: &BenchRecord) -> Self {
        let server = record.server.as_ref();
        Self {
            name,
            pipeline,
            rate: record.load.rate,
            verified_replies_per_second: record.summary.verified_replies_per_second,
            scheduled: record.ledger.scheduled,
            missed: record.ledger.missed,
            failed: record.ledger.failed,
            response: record.latency.response.clone(),
            lag: record.generator.lag.clone(),
            generator_busy_fraction: record.generator.busy_fraction,
            generator_cpu_per_request_ns: record.generator.cpu_per_request_ns,
            server_cpu_per_reply_ns: server.and_then(|server| server.cpu_per_reply_ns),
            server_cores: server.map(|server| server.cores),
            limit: StepLimit::of(record),
        }
    }

    /// The ceiling that it shows, if it is a closed loop.
    pub(super) fn ceiling(&self) -> Option<Ceiling> {
        self.rate.is_none().then_some(Ceiling {
            pipeline: self.pipeline,
            verified_replies_per_second: self.verified_replies_per_second,
        })
    }
}
