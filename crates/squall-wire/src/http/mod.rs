//! HTTP/1.1 from the client's side: what to send, and where each reply ends.
//!
//! Made for the hot path of a load generator: a request is bytes built once, and a reply is
//! framed rather than read. Does not own the connection, the time-outs, or the matching of
//! replies to requests; the caller says which kind of request a reply answers.

pub mod request;
pub mod response;
