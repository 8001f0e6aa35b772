//! What a server is set up with. Every limit is an option of the binary.

use std::time::Duration;

use crate::access::{HostRule, OriginRule};

/// Options and limits of a server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Which hosts are answered.
    pub hosts: HostRule,
    /// Which web origins are allowed.
    pub origins: OriginRule,
    /// Bytes of a request body, and so of an event.
    pub event_bytes_max: usize,
    /// Elements of a JSON append.
    pub json_elements_max: usize,
    /// Bytes of all request bodies in memory.
    pub bodies_bytes_max: usize,
    /// Bytes of a request head, at least 8 KiB.
    pub head_bytes_max: usize,
    /// Headers of a request.
    pub headers_max: usize,
    /// Longest time for a request head.
    pub head_max: Duration,
    /// Longest pause within a request body.
    pub body_pause_max: Duration,
    /// Longest time that a connection may be open without a request.
    pub idle_max: Duration,
    /// Longest time that a peer may take nothing.
    pub write_max: Duration,
    /// Connections at the same time.
    pub connections_max: usize,
    /// Requests at the same time on one HTTP/2 connection.
    pub http2_streams_max: u32,
    /// Follows and long-polls at the same time.
    pub followers_max: usize,
    /// Payload bytes of a page, unless a single event is larger.
    pub page_bytes_max: usize,
    /// Bytes of all pages in memory.
    pub pages_bytes_max: usize,
    /// Longest time that a read waits for its share of those.
    pub page_wait_max: Duration,
    /// Bytes of the recent events of one followed stream.
    pub ring_bytes_max: usize,
    /// Bytes of the recent events of all followed streams.
    pub ring_bytes_total_max: usize,
    /// Time between two heartbeats.
    pub heartbeat: Duration,
    /// Longest time that a long-poll waits.
    pub long_poll_max: Duration,
    /// Age at which a follow is ended so that its client connects again; none for never.
    pub sse_age_max: Option<Duration>,
    /// Longest time to finish open requests at shutdown.
    pub drain_max: Duration,
}

impl Default for ServerConfig {
    fn default() -> Self {
        const KIB: usize = 1024;
        const MIB: usize = 1024 * KIB;
        Self {
            hosts: HostRule::default(),
            origins: OriginRule::loopback(),
            event_bytes_max: 16 * MIB,
            json_elements_max: 10_000,
            bodies_bytes_max: 64 * MIB,
            head_bytes_max: 16 * KIB,
            headers_max: 100,
            head_max: Duration::from_secs(10),
            body_pause_max: Duration::from_secs(30),
            idle_max: Duration::from_secs(120),
            write_max: Duration::from_secs(30),
            connections_max: 900,
            http2_streams_max: 256,
            followers_max: 450,
            page_bytes_max: 256 * KIB,
            pages_bytes_max: 64 * MIB,
            page_wait_max: Duration::from_secs(5),
            ring_bytes_max: MIB,
            ring_bytes_total_max: 256 * MIB,
            heartbeat: Duration::from_secs(15),
            long_poll_max: Duration::from_secs(20),
            sse_age_max: None,
            drain_max: Duration::from_secs(10),
        }
    }
}
