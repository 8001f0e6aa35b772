//! Reads Server-Sent Events as a browser does: bytes in, events out.
//!
//! Owns lines, fields and the cursor of one connection after another. Does not own the
//! connection, nor the decision to open the next one: a retry is reported, never waited for.
//! Invariant: the items do not depend on where the bytes are cut, and a message without its
//! blank line is never yielded.
//! Limit: [`DecodeLimits`]. Start at [`SseDecoder::decode`].

mod decoder;
mod error;
mod event;
mod limits;

mod block;
mod lines;

pub use decoder::SseDecoder;
pub use error::DecodeError;
pub use event::{SseEvent, SseItem};
pub use limits::{DecodeLimits, EVENT_BYTES_MAX, LINE_BYTES_MAX};

#[cfg(test)]
mod tests;
