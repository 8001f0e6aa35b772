//! The closed list of error codes. Each has a heading in docs/PROTOCOL.md.

use http::StatusCode;

macro_rules! error_codes {
    ($($variant:ident, $code:literal, $status:ident, $title:literal, $hint:literal;)*) => {
        /// What went wrong, as a word that programs can rely on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "each variant's title says what it means")]
        pub enum ErrorCode { $($variant,)* }

        impl ErrorCode {
            /// Every code, in the order of docs/PROTOCOL.md.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word in the `code` member.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// The status that answers with this code have.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status,)* }
            }

            /// The same for every occurrence.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// What would be right.
            #[must_use]
            pub const fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)* }
            }
        }
    };
}

error_codes! {
    BadName, "bad_name", BAD_REQUEST, "Not a stream name",
        "Name a stream with 1 to 512 bytes of UTF-8, segments separated by single slashes.";
    BadOffset, "bad_offset", BAD_REQUEST, "Not an offset",
        "Use -1, now, last, or an offset that this server returned.";
    BadQuery, "bad_query", BAD_REQUEST, "Query cannot be read",
        "See the parameters in docs/PROTOCOL.md.";
    BadHeader, "bad_header", BAD_REQUEST, "Header cannot be read",
        "See the headers in docs/PROTOCOL.md.";
    BadHost, "bad_host", BAD_REQUEST, "Host cannot be read",
        "Send exactly one Host header with the name that the server is reached by.";
    MissingContentType, "missing_content_type", BAD_REQUEST, "No content type",
        "Send a Content-Type header that matches the stream's.";
    EmptyBody, "empty_body", BAD_REQUEST, "Nothing to append",
        "Send at least one byte (for JSON one value), or Stream-Closed: true to close the stream.";
    InvalidJson, "invalid_json", BAD_REQUEST, "Not JSON",
        "Send one JSON value, or an array of values to append several.";
    BrokenBody, "broken_body", BAD_REQUEST, "Body cannot be read",
        "Send as many bytes as Content-Length says, or valid chunks.";
    OffsetBeyondTail, "offset_beyond_tail", BAD_REQUEST, "Offset beyond the tail",
        "Use an offset that this stream returned, or now for its tail.";
    OffsetInsideEvent, "offset_inside_event", BAD_REQUEST, "Offset inside an event",
        "Use an offset that this stream returned.";
    ProducerEpochStart, "producer_epoch_start", BAD_REQUEST, "New epoch must start at 0",
        "Send Producer-Seq: 0 with the first append of a new epoch.";
    ForeignOrigin, "foreign_origin", FORBIDDEN, "Origin not allowed",
        "Start the server with --cors-origin and this origin to let its pages in.";
    ProducerFenced, "producer_fenced", FORBIDDEN, "Producer fenced off",
        "Another instance of the producer has a later epoch; stop, or start a still later one.";
    NotFound, "not_found", NOT_FOUND, "No such resource",
        "Streams are under /v1/stream/{name}; docs/PROTOCOL.md lists the rest.";
    StreamNotFound, "stream_not_found", NOT_FOUND, "No such stream",
        "Create it with PUT.";
    MethodNotAllowed, "method_not_allowed", METHOD_NOT_ALLOWED, "Method not allowed",
        "The Allow header lists the methods.";
    SlowBody, "slow_body", REQUEST_TIMEOUT, "Body came to a halt",
        "Send the body without a long pause.";
    StreamExists, "stream_exists", CONFLICT, "Stream exists and differs",
        "Use the stream as it is, delete it first, or choose another name.";
    StreamClosed, "stream_closed", CONFLICT, "Stream is closed",
        "A closed stream takes no more; append to another.";
    ContentTypeMismatch, "content_type_mismatch", CONFLICT, "Another content type",
        "Send the content type that the stream was created with.";
    SequenceConflict, "sequence_conflict", CONFLICT, "Stream-Seq is not greater",
        "Send a value that is greater, byte by byte, than the last accepted one.";
    ProducerGap, "producer_gap", CONFLICT, "Producer sequence has a gap",
        "Send the appends that are missing first; Producer-Expected-Seq says where to start.";
    OffsetsExhausted, "offsets_exhausted", CONFLICT, "Stream is full",
        "The stream has reached the largest offset; go on in another.";
    OffsetTrimmed, "offset_trimmed", GONE, "Events are gone",
        "Read on from Stream-Earliest-Offset.";
    BodyTooLarge, "body_too_large", PAYLOAD_TOO_LARGE, "Body too large",
        "Split the data into several appends, or start the server with a larger --event-bytes-max.";
    TooManyElements, "too_many_elements", PAYLOAD_TOO_LARGE, "Too many elements",
        "Split the array into several appends, or start the server with a larger --json-elements-max.";
    ForeignHost, "foreign_host", MISDIRECTED_REQUEST, "Host not served",
        "Reach a loopback listener by a loopback name, or start the server with --host and this name.";
    ProducersFull, "producers_full", TOO_MANY_REQUESTS, "Too many producers",
        "Use fewer producer ids; one that has been idle for long enough makes room.";
    OutcomeUnknown, "outcome_unknown", INTERNAL_SERVER_ERROR, "Outcome unknown",
        "The change is there once or not at all. Read the stream, or retry with the same producer headers.";
    StorageFailed, "storage_failed", INTERNAL_SERVER_ERROR, "Storage failed",
        "The server's log has the cause.";
    NotImplemented, "not_implemented", NOT_IMPLEMENTED, "Not implemented",
        "docs/PROTOCOL.md lists what is served.";
    Overloaded, "overloaded", SERVICE_UNAVAILABLE, "Overloaded",
        "Try again after Retry-After seconds.";
    TooManyFollowers, "too_many_followers", SERVICE_UNAVAILABLE, "Too many followers",
        "Try again after Retry-After seconds.";
    TooManyConnections, "too_many_connections", SERVICE_UNAVAILABLE, "Too many connections",
        "Try again in a moment.";
    WalFull, "wal_full", SERVICE_UNAVAILABLE, "Write-ahead log is full",
        "Another process holds a read transaction open on the database; end it.";
    StorageLocked, "storage_locked", SERVICE_UNAVAILABLE, "Storage is locked",
        "Another process holds the write lock of the database; try again after Retry-After seconds.";
    ShuttingDown, "shutting_down", SERVICE_UNAVAILABLE, "Shutting down",
        "Try again after Retry-After seconds.";
    DiskFull, "disk_full", INSUFFICIENT_STORAGE, "Disk is full",
        "Free space; appends go on by themselves.";
}
