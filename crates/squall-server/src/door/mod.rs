//! The door: sockets, HTTP and time limits, and nothing of what a request means.
//!
//! Owns the connections and everything of hyper: a request comes out of here as
//! [`Request`], an answer goes in as [`Reply`], so that the door can be replaced without
//! touching a route.
//!
//! Invariant: a peer that sends or takes nothing is cut, and costs a bounded amount of
//! memory until then. Start at [`accept`].

mod state;

mod cork;

mod quick;

mod socket;

mod sniff;

mod request;

mod reply;

mod loan;

mod answer;

mod long;

mod connection;

mod sweep;

mod accept;

pub(crate) use accept::{Door, DoorConfig, Handler, Recalled};
pub(crate) use answer::Answer;
pub(crate) use connection::HttpLimits;
pub(crate) use reply::{Reply, SMALL_BYTES_MAX};
pub(crate) use request::{BodyError, Head, InFlight, Request};
