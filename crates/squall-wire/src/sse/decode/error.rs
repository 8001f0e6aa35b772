//! Why decoding stopped.

/// Why a stream cannot be decoded any further: close the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A line, or a value in it once decoded, is longer than the limit.
    #[error("a line is longer than {line_bytes_max} bytes")]
    LineTooLong {
        /// The limit, in bytes.
        line_bytes_max: usize,
    },
    /// The data of one event is longer than the limit.
    #[error("the data of an event is longer than {event_bytes_max} bytes")]
    EventTooLong {
        /// The limit, in bytes.
        event_bytes_max: usize,
    },
}
