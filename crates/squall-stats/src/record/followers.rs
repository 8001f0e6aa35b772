//! What followers saw.

use serde::{Deserialize, Serialize};

use super::LatencySummary;

/// What all followers saw together.
///
/// Counts are of the whole run, warm-up and drain included: they can be compared with the
/// server's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FollowersRecord {
    /// Followers asked for.
    pub asked: u64,
    /// Followers that were answered with an event stream at least once.
    pub established: u64,
    /// Followers that were told to stop, by 204.
    pub stopped: u64,
    /// Attempts that failed or were answered with something else than an event stream.
    pub failed: std::collections::BTreeMap<String, u64>,
    /// Times that a follower connected again after it had been cut.
    pub reconnects: u64,
    /// Messages with data.
    pub events: u64,
    /// Comments, such as heartbeats.
    pub comments: u64,
    /// Blocks cut by the end of a connection, which do not count as events.
    pub cut_events: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Events inside the window, over its length.
    pub events_per_second: f64,
    /// From the request to the first byte of its answer.
    pub first_byte: LatencySummary,
    /// From the request to the first event with data.
    pub first_event: LatencySummary,
    /// From the request to the first event that holds what was looked for.
    pub first_match: LatencySummary,
    /// Between two events of one follower, the later one in the window.
    pub gap: LatencySummary,
    /// Where stamped payloads went; `null` if none were sent or seen.
    pub delivery: Option<DeliveryRecord>,
}

/// Where stamped payloads went.
///
/// Counts are of the whole run and sums over the followers, except `appended`. Slow followers
/// are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeliveryRecord {
    /// Appends of this run that were acknowledged, warm-up included.
    pub appended: u64,
    /// Stamped events that followers received, of any publisher, each once for each follower.
    pub delivered: u64,
    /// Events that a follower did not receive although a later one of the same publisher came.
    /// Of this run only acknowledged appends count, of other publishers every gap.
    pub lost: u64,
    /// Acknowledged appends of this run that a follower had not received when the wait for
    /// them was over, and nothing later either: late or lost, which cannot be told.
    pub undelivered: u64,
    /// Events that a follower received again.
    pub repeated: u64,
    /// Events that a follower received after a later one of the same publisher.
    pub reordered: u64,
    /// Stamps of other publishers, repeated ones included. No time is taken from them, but gaps
    /// in their numbers count as lost.
    pub foreign: u64,
    /// From the intended start of an append, which lies in the window, to the event at a
    /// follower.
    pub time: LatencySummary,
}
