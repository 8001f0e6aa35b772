//! What the two sides took from the machine.

use serde::{Deserialize, Serialize};

use super::LatencySummary;

/// What the server's processes took during the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// The process that was named; its children are counted with it.
    pub pid: u32,
    /// Processes counted at the end of the window.
    pub processes: u64,
    /// Processor time in user mode.
    pub cpu_user_seconds: f64,
    /// Processor time in the kernel.
    pub cpu_system_seconds: f64,
    /// Processor time over verified replies; `null` without one.
    pub cpu_per_reply_ns: Option<f64>,
    /// Cores that were busy in the mean.
    pub cores: f64,
    /// Most resident memory that was seen.
    pub rss_bytes_max: u64,
    /// Threads at the end of the window.
    pub threads: u64,
    /// Context switches because a thread waited.
    pub voluntary_switches: u64,
    /// Context switches because another thread had its turn.
    pub involuntary_switches: u64,
}

/// What the generator itself took during the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratorRecord {
    /// Share of the window in which the busiest thread was not waiting, 0 to 1.
    pub busy_fraction: f64,
    /// Whether that is more than 0.9: then the generator was the limit.
    pub saturated: bool,
    /// Processor time in user mode.
    pub cpu_user_seconds: f64,
    /// Processor time in the kernel.
    pub cpu_system_seconds: f64,
    /// Processor time over requests sent; `null` without one.
    pub cpu_per_request_ns: Option<f64>,
    /// How late requests left although a connection was free. Empty in a closed loop.
    pub lag: LatencySummary,
    /// How long replies that had arrived waited until the generator read them, as part of their
    /// times: it was busy with others. A sample of the reads.
    pub pickup: LatencySummary,
    /// Resident memory at the end of the window.
    pub rss_bytes: u64,
    /// What one reading of the clock costs.
    pub clock_ns: f64,
    /// Verified replies a second that `squall calibrate` reached here with the same pipelining;
    /// `null` if it was not run on this machine.
    pub ceiling_per_second: Option<f64>,
    /// Processors that its threads were pinned to; empty if they were not.
    pub pinned_to: Vec<u32>,
}
