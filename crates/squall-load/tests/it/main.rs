//! The engine against the scripted server.
#![expect(clippy::unwrap_used, reason = "what a test cannot do without may panic")]

mod support;

mod follow_support;

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

mod followers;

mod followers_coming_back;

mod delivery;
