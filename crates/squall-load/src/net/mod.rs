//! Sockets, plain and encrypted, without a thought about HTTP.

mod socket;

mod tls;

mod channel;

pub(crate) use channel::{Channel, Received, Started};
pub(crate) use socket::Fault;
