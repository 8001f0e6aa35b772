//! The engine against the scripted server.

mod support;

mod framing;

mod heads;

mod bodies;

mod endings;

mod checks;

mod counts;

mod requests;

mod unreachable;

mod schedules;

mod latency;

mod ending_early;

mod memory;

mod tls;

mod places;
