//! Limits of reading and following.

use std::time::Duration;

use crate::value::{ByteSize, bytes, count, duration};

const KIB: u64 = 1 << 10;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Options of reads and follows.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FollowArgs {
    /// Time between two heartbeats to a follower.
    #[arg(long, env = "SQUALL_HEARTBEAT", value_name = "TIME", default_value = "15s")]
    #[arg(value_parser = duration(SECOND, 60 * MINUTE))]
    pub(crate) heartbeat: Duration,

    /// Longest time that a long-poll waits for an event.
    #[arg(long, env = "SQUALL_LONG_POLL_TIMEOUT", value_name = "TIME", default_value = "20s")]
    #[arg(value_parser = duration(SECOND / 10, 60 * MINUTE))]
    pub(crate) long_poll_timeout: Duration,

    /// Age at which a follow is ended so that its client connects again, which evens out the
    /// load behind a balancer. By default it is never ended.
    #[arg(long, env = "SQUALL_SSE_AGE_MAX", value_name = "TIME")]
    #[arg(value_parser = duration(SECOND, 365 * DAY))]
    pub(crate) sse_age_max: Option<Duration>,

    /// Follows and long-polls at the same time; one more is accepted, told when to come again,
    /// and closed. By default half of the connections.
    #[arg(long, env = "SQUALL_FOLLOWERS_MAX", value_name = "COUNT")]
    #[arg(value_parser = count(1, 10_000_000))]
    pub(crate) followers_max: Option<usize>,

    /// Bytes of recent events kept for each stream that is followed.
    #[arg(long, env = "SQUALL_RING_BYTES", value_name = "SIZE", default_value = "1MiB")]
    #[arg(value_parser = bytes(4 * KIB, GIB))]
    pub(crate) ring_bytes: ByteSize,

    /// Bytes of recent events kept for all of them together.
    #[arg(long, env = "SQUALL_RING_BYTES_TOTAL", value_name = "SIZE", default_value = "256MiB")]
    #[arg(value_parser = bytes(4 * KIB, TIB))]
    pub(crate) ring_bytes_total: ByteSize,

    /// Bytes of a page of stored events; a single event that is larger is a page by itself.
    #[arg(long, env = "SQUALL_PAGE_BYTES_MAX", value_name = "SIZE", default_value = "256KiB")]
    #[arg(value_parser = bytes(KIB, GIB))]
    pub(crate) page_bytes_max: ByteSize,

    /// Bytes of all pages in memory. Beyond them reads wait.
    #[arg(long, env = "SQUALL_PAGES_BYTES_MAX", value_name = "SIZE", default_value = "64MiB")]
    #[arg(value_parser = bytes(KIB, TIB))]
    pub(crate) pages_bytes_max: ByteSize,

    /// Longest time that a read waits for its share of those; then it is answered 503.
    #[arg(long, env = "SQUALL_PAGE_WAIT_MAX", value_name = "TIME", default_value = "5s")]
    #[arg(value_parser = duration(Duration::from_millis(1), 10 * MINUTE))]
    pub(crate) page_wait_max: Duration,
}
