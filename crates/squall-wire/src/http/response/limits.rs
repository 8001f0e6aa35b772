//! How much a server may make the reader hold or skip.

/// Longest head unless told otherwise, in bytes.
pub const HEAD_BYTES_MAX: usize = 256 * 1024;

/// Most header lines of a head unless told otherwise.
pub const HEADERS_MAX: usize = 1024;

/// Longest line with the size of a chunk unless told otherwise, in bytes.
pub const CHUNK_LINE_BYTES_MAX: usize = 16 * 1024;

/// Most bytes of trailers unless told otherwise.
pub const TRAILER_BYTES_MAX: usize = 64 * 1024;

/// Limits of one reply. A reader holds at most one head; everything else is only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseLimits {
    /// Longest head, from its status line to its empty line, in bytes.
    pub head_bytes_max: usize,
    /// Most header lines of a head.
    pub headers_max: usize,
    /// Longest line with the size of a chunk and its extensions, with its end, in bytes.
    pub chunk_line_bytes_max: usize,
    /// Most bytes behind the last chunk, with the empty line.
    pub trailer_bytes_max: usize,
}

impl Default for ResponseLimits {
    fn default() -> Self {
        Self {
            head_bytes_max: HEAD_BYTES_MAX,
            headers_max: HEADERS_MAX,
            chunk_line_bytes_max: CHUNK_LINE_BYTES_MAX,
            trailer_bytes_max: TRAILER_BYTES_MAX,
        }
    }
}
