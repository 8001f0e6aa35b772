//! How much a peer may make the decoder hold.

/// Longest line unless told otherwise. An event of 16 MiB in base64 is one line of 21.4 MiB.
pub const LINE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Longest data of one event unless told otherwise.
pub const EVENT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Limits of one decoder. It holds at most the data of one event and five values as long as a
/// line: the line itself, two ids, a name and a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Longest line, without its end. An id, a name and a comment are held to it once more
    /// after decoding, since U+FFFD is longer than the byte it replaces.
    pub line_bytes_max: usize,
    /// Longest data of one event, after decoding and with the LFs between its lines.
    pub event_bytes_max: usize,
}

impl Default for DecodeLimits {
    fn default() -> Self {
        Self { line_bytes_max: LINE_BYTES_MAX, event_bytes_max: EVENT_BYTES_MAX }
    }
}
