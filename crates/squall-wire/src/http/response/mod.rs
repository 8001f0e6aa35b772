//! Where replies begin and end: bytes in, heads and pieces of bodies out.
//!
//! Owns the rules of RFC 9112 about the length of a reply (§6.3), the chunked coding (§7.1) and
//! whether a connection persists (§9.3). Does not own content codings: a compressed body comes
//! out as it is. Redirects are replies like any other.
//! Invariant: what comes out does not depend on where the bytes are cut, except for the cuts
//! within a body, and neither on what the cache holds.
//! Limit: [`ResponseLimits`]. Start at [`ResponseReader::read`].

mod cache;
mod error;
mod limits;
mod part;
mod reader;

mod chunked;
mod framing;
mod head;

pub use cache::HeadCache;
pub use error::FramingError;
pub use limits::{
    CHUNK_LINE_BYTES_MAX, HEAD_BYTES_MAX, HEADERS_MAX, ResponseLimits, TRAILER_BYTES_MAX,
};
pub use part::{BodyFraming, EndOfStream, RequestKind, ResponseHead, ResponsePart};
pub use reader::ResponseReader;

pub(super) use chunked::{ChunkedDecoder, ChunkedPart};
pub(super) use framing::elements;

#[cfg(test)]
mod tests;
