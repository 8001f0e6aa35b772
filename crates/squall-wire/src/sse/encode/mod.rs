//! Writes Server-Sent Events: every function appends whole blocks to a `Vec<u8>`.
//!
//! Owns the framing of one block. Does not own when to send, nor what an id means.
//! Invariant: what is appended ends in a blank line, or nothing is appended at all; so blocks
//! may be joined freely and a client that loses the connection never sees half a message.
//! Start at [`message`], or at [`DataWriter`] if the data lies in several slices.
//!
//! # Shape
//! ```text
//! id: 42            space after the colon
//! retry: 1000
//! event: control
//! data:first line   no space, unless the line itself begins with one
//!                   blank line
//! ```
//! Fields stand in this order, so `data:` follows `event:` directly.
//!
//! # What the caller answers for
//! Data must be UTF-8 as a whole: see [`crate::utf8`] for text that may be cut or broken. A
//! client strips one byte order mark from the start of a *stream*. A block begins with a field
//! name or a colon, so a mark inside a payload is safe as long as a body starts with a block
//! and never with payload bytes.

mod block;
mod data;
mod error;

pub use block::{Fields, HEARTBEAT, heartbeat, id_only, message, retry_only};
pub use data::DataWriter;
pub use error::EncodeError;

#[cfg(test)]
mod tests;
