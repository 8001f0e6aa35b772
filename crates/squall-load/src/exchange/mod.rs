//! Requests and replies of one connection, matched in order.

mod pending;

mod matching;

pub(crate) use matching::{Ended, Exchange, Tools, Unmatched};
pub(crate) use pending::Pending;
