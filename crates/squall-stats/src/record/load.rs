//! How a target was loaded.

use serde::{Deserialize, Serialize};

/// Who decides when the next request leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopKind {
    /// The reply before it: waits in the server slow the load down and are hidden.
    Closed,
    /// A schedule, whatever the server does.
    Open,
}

/// How a target was loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadRecord {
    /// Closed or open loop.
    #[serde(rename = "loop")]
    pub loop_kind: LoopKind,
    /// Connections, without followers.
    pub connections: u64,
    /// Threads of the generator.
    pub threads: u64,
    /// Most requests on their way on one connection.
    pub pipeline: u64,
    /// Whether connections carried more than one request.
    pub keep_alive: bool,
    /// Most requests of one connection; `null` without a limit.
    pub requests_per_connection: Option<u64>,
    /// `constant`, `poisson` or `ramp:A..B`; `null` in a closed loop.
    pub arrivals: Option<String>,
    /// Scheduled arrivals a second, the mean of a ramp; `null` in a closed loop.
    pub rate: Option<f64>,
    /// The seed of everything random.
    pub seed: u64,
    /// Followers, slow ones included.
    pub followers: u64,
    /// Followers that read slowly on purpose.
    pub slow_followers: u64,
    /// Longest wait for a reply.
    pub timeout_ns: u64,
    /// Longest wait for a connection.
    pub connect_timeout_ns: u64,
}
