//! The server over real sockets, on the in-memory engine.
#![expect(clippy::unwrap_used, reason = "what a test cannot do without may panic")]

mod support;

mod follower;

mod smoke;

mod default_stream;

mod create;

mod append;

mod producers;

mod close;

mod catch_up;

mod caching;

mod long_poll;

mod live_events;

mod gaps;

mod live_sse;

mod text;

mod heartbeats;

mod hand_off;

mod ring_fallback;

mod streams;

mod names;

mod access;

mod operations;

mod shutdown;

mod trouble;

mod problems;

mod protocol_document;

mod quick;
mod raw;

mod pipelining;

mod request_bodies;

mod heads;

mod crowds;

mod deadlines;

mod manners;

mod drain;

mod http2;
