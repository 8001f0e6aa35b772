//! Bytes in, values out: the codecs of squall's wire.
//!
//! Owns the encoder and the decoder of Server-Sent Events ([`sse`]) and the rules for text that
//! arrives in pieces ([`utf8`]). Does not own sockets, timers or HTTP semantics.
//! Invariant: no IO, no clock, no panic, whatever the bytes are. Every buffer that a peer can
//! grow has a named maximum.

#![warn(missing_docs)]

pub mod sse;
pub mod utf8;
