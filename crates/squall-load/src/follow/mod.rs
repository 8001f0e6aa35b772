//! Followers: connections that listen to an event stream, in the loops of the workers.
//!
//! A follower connects, reads, and connects again with the newest id when it is cut. What it
//! sees is summed up per thread ([`Seen`]); what became of stamped payloads is decided at the
//! end, when it is known which appends were acknowledged ([`Tracker`]).

mod tracker;

mod seen;

mod follower;

mod followers;

mod reading;

pub(crate) use followers::Followers;
pub(crate) use seen::Seen;
pub(crate) use tracker::Appends;
