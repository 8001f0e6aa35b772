//! Why reading stopped.

/// Why the replies of a connection cannot be told apart any further: close it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum FramingError {
    /// What came is no reply of HTTP/1.0 or HTTP/1.1.
    #[error("the reply does not begin with HTTP/1.0 or HTTP/1.1")]
    NotHttp,
    /// The status line is malformed (RFC 9112 §4).
    #[error("the status line is malformed")]
    StatusLine,
    /// The name of a header is malformed, or a line has no colon (RFC 9112 §5.1).
    #[error("the name of a header is malformed")]
    HeaderName,
    /// The value of a header holds a control character (RFC 9110 §5.5).
    #[error("the value of a header holds a control character")]
    HeaderValue,
    /// A carriage return stands alone (RFC 9112 §2.2).
    #[error("a line of the head has a carriage return without a line feed")]
    LineEnd,
    /// The head is longer than the limit.
    #[error("the head is longer than {head_bytes_max} bytes")]
    HeadTooLong {
        /// The limit, in bytes.
        head_bytes_max: usize,
    },
    /// The head has more header lines than the limit.
    #[error("the head has more than {headers_max} headers")]
    TooManyHeaders {
        /// The limit, in header lines.
        headers_max: usize,
    },
    /// A `Content-Length` is not a number of 64 bits (RFC 9112 §6.3, rule 5).
    #[error("a Content-Length is not a number, or does not fit into 64 bits")]
    ContentLength,
    /// There are several lengths, and they differ (RFC 9112 §6.3, rule 5).
    #[error("several values of Content-Length differ")]
    ContentLengthsDiffer,
    /// A chunk does not begin with a hexadecimal size, or there is garbage behind it (RFC 9112
    /// §7.1).
    #[error("the line with the size of a chunk is malformed")]
    ChunkSize,
    /// The size of a chunk does not fit into 64 bits.
    #[error("the size of a chunk does not fit into 64 bits")]
    ChunkSizeTooLarge,
    /// The line with the size of a chunk is longer than the limit.
    #[error("the line with the size of a chunk is longer than {chunk_line_bytes_max} bytes")]
    ChunkLineTooLong {
        /// The limit, in bytes.
        chunk_line_bytes_max: usize,
    },
    /// The data of a chunk goes on where its size says that it ends.
    #[error("a chunk is longer than its size says")]
    ChunkEnd,
    /// The line that ends the trailers has a carriage return without a line feed.
    #[error("the trailers are malformed")]
    Trailer,
    /// The trailers are longer than the limit.
    #[error("the trailers are longer than {trailer_bytes_max} bytes")]
    TrailersTooLong {
        /// The limit, in bytes.
        trailer_bytes_max: usize,
    },
}
