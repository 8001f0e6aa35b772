//! One run of `squall bench`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{FollowersRecord, GeneratorRecord, LatencySummary, LoadRecord, ServerRecord};
use crate::ledger::Ledger;

/// The value of `schema`: its number is raised whenever a key changes its meaning or goes.
pub const BENCH_SCHEMA: &str = "squall.bench/1";

/// Everything that one run measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchRecord {
    /// Always [`BENCH_SCHEMA`].
    pub schema: String,
    /// The release and commit of squall that measured.
    pub squall: String,
    /// When the run began, RFC 3339 in UTC.
    pub started_at: String,
    /// What was loaded.
    pub target: TargetRecord,
    /// How it was loaded.
    pub load: LoadRecord,
    /// When it was measured.
    pub window: WindowRecord,
    /// The answer in a few numbers.
    pub summary: Summary,
    /// Where every request of the window went.
    pub ledger: Ledger,
    /// Requests before the window, which are in no other number.
    pub warm_up: WarmUpRecord,
    /// Replies of the window by status code, whether they passed or not.
    pub status_codes: BTreeMap<u16, u64>,
    /// How long requests took.
    pub latency: LatencyRecord,
    /// What became of connections, warm-up included.
    pub connections: ConnectionsRecord,
    /// What crossed the wire inside the window.
    pub bytes: BytesRecord,
    /// Decoded body lengths of the window's replies; `null` without a reply.
    pub body: Option<BodyRecord>,
    /// What followers saw; `null` without followers.
    pub followers: Option<FollowersRecord>,
    /// What the server's processes took; `null` if they were not named.
    pub server: Option<ServerRecord>,
    /// What the generator itself took.
    pub generator: GeneratorRecord,
    /// What a reader of the numbers has to know, one sentence each.
    pub warnings: Vec<String>,
}

/// What was loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetRecord {
    /// The requests that the load is made of.
    pub requests: Vec<RequestRecord>,
    /// The address that connections went to, `IP:port` or the path of a Unix socket.
    pub address: String,
    /// Whether connections were encrypted.
    pub tls: bool,
}

/// One request of the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// The method.
    pub method: String,
    /// The URL as it was given.
    pub url: String,
    /// How often it is sent beside the others.
    pub weight: u32,
    /// Bytes of its body.
    pub body_bytes: u64,
}

/// When it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowRecord {
    /// Length of the measured window.
    pub seconds: f64,
    /// Length of the warm-up before it.
    pub warm_up_seconds: f64,
    /// Time after the window for replies that were on their way.
    pub drain_seconds: f64,
    /// Whether a signal ended the window early.
    pub interrupted: bool,
}

/// What was the limit of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The generator had time to spare: the server, or the connections given to it, set the rate.
    Server,
    /// The generator was busy for more than 90 % of the window: the server may be faster.
    Generator,
    /// The arrival rate was kept, at least 98 % of the arrivals being answered inside the
    /// window: neither was at its limit.
    Rate,
    /// It cannot be told.
    Unknown,
}

/// The answer in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Replies that passed every check and arrived inside the window, over its length.
    pub verified_replies_per_second: f64,
    /// What was the limit.
    pub limit: Limit,
    /// The result in one or two plain sentences.
    pub sentence: String,
}

/// Requests before the window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUpRecord {
    /// Handed to a connection.
    pub sent: u64,
    /// Replies that passed every check.
    pub ok: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Neither, when the run ended.
    pub unanswered: u64,
    /// Whether a warm-up `steady` found a steady rate; `null` if it was not asked for.
    pub steady: Option<bool>,
}

/// How long requests took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyRecord {
    /// From the intended start to the last byte of the reply, of verified replies.
    pub response: LatencySummary,
    /// From the actual start to the last byte of the reply, of verified replies.
    pub service: LatencySummary,
    /// From the actual start to the failure, of requests that failed.
    pub failed: LatencySummary,
    /// To open a connection, TLS included.
    pub connect: LatencySummary,
}

/// What became of connections, from the start of the run to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionsRecord {
    /// Connections that were opened.
    pub opened: u64,
    /// Attempts that failed, by errno or kind.
    pub failed: BTreeMap<String, u64>,
    /// Requests handed to a connection that had carried one before.
    pub reused: u64,
    /// Connections that the generator closed: after an error, a time-out, or its share of requests.
    pub closed_by_client: u64,
    /// Connections that the server closed.
    pub closed_by_server: u64,
}

/// What crossed the wire inside the window, TLS and TCP overhead not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BytesRecord {
    /// Of requests.
    pub sent: u64,
    /// Of replies, heads and chunk framing included.
    pub received: u64,
}

/// Decoded body lengths of replies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyRecord {
    /// Shortest, in bytes.
    pub bytes_min: u64,
    /// Longest, in bytes.
    pub bytes_max: u64,
    /// Mean, in bytes.
    pub bytes_mean: f64,
}
