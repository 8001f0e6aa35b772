//! Limits of the domain, each with its unit in the name.

/// Longest stream name, in bytes of UTF-8 after percent-decoding.
pub const NAME_BYTES_MAX: usize = 512;
/// Longest content type, in bytes.
pub const CONTENT_TYPE_BYTES_MAX: usize = 256;
/// Longest producer id, in bytes.
pub const PRODUCER_ID_BYTES_MAX: usize = 256;
/// Longest `Stream-Seq` value, in bytes.
pub const STREAM_SEQ_BYTES_MAX: usize = 256;
/// Largest producer epoch or sequence: the integers that every JSON client can hold, 2^53 - 1.
pub const PRODUCER_NUMBER_MAX: u64 = (1 << 53) - 1;
/// Largest position in a stream, in bytes: what sixteen digits print.
pub const POSITION_MAX: u64 = 9_999_999_999_999_999;

/// Limits that the person running a store may set.
#[derive(Clone, Copy, Debug)]
pub struct StreamLimits {
    /// Elements that one JSON append may hold.
    pub json_elements_max: usize,
    /// Producers that one stream remembers.
    pub producers_max: u32,
    /// Milliseconds without an append after which a producer may be forgotten. All that
    /// have been idle for so long are forgotten when an append of a new producer is
    /// stored that would otherwise be one too many, and not before.
    pub producer_idle_max_ms: u64,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self {
            json_elements_max: 10_000,
            producers_max: 10_000,
            producer_idle_max_ms: 7 * 24 * 60 * 60 * 1_000,
        }
    }
}
