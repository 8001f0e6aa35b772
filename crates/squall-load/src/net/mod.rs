//! Sockets, plain and encrypted, without a thought about HTTP.

mod arrival;

mod socket;

mod tls;

mod channel;

pub(crate) use arrival::look_at_clocks;
pub(crate) use channel::{Channel, Received, Started};
pub(crate) use socket::Fault;
