//! Bytes in, values out: the codecs of squall's wire.
//!
//! Owns the client's side of HTTP/1.1 ([`http`]: requests built once, and where a reply ends), the
//! encoder and the decoder of Server-Sent Events ([`sse`]), the stamp that lets a payload be
//! followed through any server ([`stamp`]), and the rules for text that arrives in pieces
//! ([`utf8`]). Does not own sockets, timers, or the choice of what to send when.
//! Invariant: no IO, no clock, no panic, whatever the bytes are. Every buffer that a peer can
//! grow has a named maximum.

#![warn(missing_docs)]

pub mod http;
pub mod sse;
pub mod stamp;
pub mod utf8;

mod digits;
