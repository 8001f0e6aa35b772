//! Limits of requests and connections.

use std::time::Duration;

use crate::value::{ByteSize, bytes, count, duration};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const MILLISECOND: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Options of the HTTP side.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct HttpArgs {
    /// Bytes of a request body, and so of an event. More is answered 413.
    #[arg(long, env = "SQUALL_EVENT_BYTES_MAX", value_name = "SIZE", default_value = "16MiB")]
    #[arg(value_parser = bytes(1, GIB))]
    pub(crate) event_bytes_max: ByteSize,

    /// Elements of one JSON append. More are answered 413.
    #[arg(long, env = "SQUALL_JSON_ELEMENTS_MAX", value_name = "COUNT", default_value = "10000")]
    #[arg(value_parser = count(1, 1_000_000))]
    pub(crate) json_elements_max: usize,

    /// Bytes of all request bodies in memory. Beyond them a request is answered 503.
    #[arg(long, env = "SQUALL_BODIES_BYTES_MAX", value_name = "SIZE", default_value = "64MiB")]
    #[arg(value_parser = bytes(1, 1024 * GIB))]
    pub(crate) bodies_bytes_max: ByteSize,

    /// Bytes of a request head, at least 8KiB. More is answered 431.
    #[arg(long, env = "SQUALL_HEAD_BYTES_MAX", value_name = "SIZE", default_value = "16KiB")]
    #[arg(value_parser = bytes(8 * KIB, MIB))]
    pub(crate) head_bytes_max: ByteSize,

    /// Headers of a request. More are answered 431.
    #[arg(long, env = "SQUALL_HEADERS_MAX", value_name = "COUNT", default_value = "100")]
    #[arg(value_parser = count(16, 10_000))]
    pub(crate) headers_max: usize,

    /// Longest time for a request head; then the connection is closed.
    #[arg(long, env = "SQUALL_HEAD_TIMEOUT", value_name = "TIME", default_value = "10s")]
    #[arg(value_parser = duration(100 * MILLISECOND, HOUR))]
    pub(crate) head_timeout: Duration,

    /// Longest pause within a request body; then the answer is 408 and the connection closed.
    #[arg(long, env = "SQUALL_BODY_TIMEOUT", value_name = "TIME", default_value = "30s")]
    #[arg(value_parser = duration(100 * MILLISECOND, HOUR))]
    pub(crate) body_timeout: Duration,

    /// Longest time that a connection stays open without a request.
    #[arg(long, env = "SQUALL_IDLE_TIMEOUT", value_name = "TIME", default_value = "2m")]
    #[arg(value_parser = duration(100 * MILLISECOND, DAY))]
    pub(crate) idle_timeout: Duration,

    /// Longest time that a peer may take nothing of what it is sent; then it is cut.
    #[arg(long, env = "SQUALL_WRITE_TIMEOUT", value_name = "TIME", default_value = "30s")]
    #[arg(value_parser = duration(100 * MILLISECOND, HOUR))]
    pub(crate) write_timeout: Duration,

    /// Connections at the same time; one more is answered 503 and closed. By default 90 % of
    /// the files that the process may open, a limit that is raised as far as allowed at start.
    #[arg(long, env = "SQUALL_CONNECTIONS_MAX", value_name = "COUNT")]
    #[arg(value_parser = count(1, 10_000_000))]
    pub(crate) connections_max: Option<usize>,

    /// Requests at the same time on one HTTP/2 connection.
    #[arg(long, env = "SQUALL_HTTP2_STREAMS_MAX", value_name = "COUNT", default_value = "256")]
    #[arg(value_parser = count(1, 65_536))]
    pub(crate) http2_streams_max: usize,
}
