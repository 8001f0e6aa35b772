//! Access: which hosts and web origins a request may come through.
//!
//! A browser lets any web page send requests to a loopback address. This module keeps
//! pages of foreign origins out of a local server, and lets those in that were named.

mod host;

mod origin;

pub use host::HostRule;
pub use origin::{OriginParseError, OriginRule};

pub(crate) use host::{Host, host_of};
pub(crate) use origin::is_own;
