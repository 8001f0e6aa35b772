//! Fan-out: hands each committed event to every follower of its stream.
//!
//! Owns the followers, and one bounded ring of recent events per followed stream.
//! Does not own durability (an engine) or HTTP (`crate::door`).
//!
//! Invariant: a follower is nothing but an offset. One that falls off the ring reads the
//! store again; it never loses an event and never grows a queue. There is no hand-off
//! from stored to live events: at each wake a follower asks the ring what lies behind its
//! offset, and the ring says *these*, *nothing yet*, or *read the store*.
//! Limit: `ring_bytes_max` a stream, `ring_bytes_total_max` together.

mod frame;

mod chunk;

mod cell;

mod ring;

mod hub;

mod pump;

mod wheel;

mod stored;

mod follower;

mod wait;

pub(crate) use chunk::Chunk;
pub(crate) use follower::{Follow, FollowStart, RETRY_MS};
pub(crate) use frame::{Cursor, Dialect, View};
pub(crate) use hub::{Hub, HubConfig, Membership};
pub(crate) use ring::FRAME_BYTES_MAX;
pub(crate) use wait::{Waited, wait_behind};
