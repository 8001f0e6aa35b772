//! From an error to the reply that reports it.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue};
use rand::RngExt;
use serde::Serialize;
use squall_stream::content_type::ContentTypeError;
use squall_stream::expiry::ExpiryError;
use squall_stream::json::JsonError;
use squall_stream::name::NameError;
use squall_stream::observer::UnreadyReason;
use squall_stream::offset::OffsetError;
use squall_stream::producer::ProducerError;
use squall_stream::request::{AppendError, CreateError, ReadError, StoreError, StreamError};

use crate::door::{BodyError, Reply};
use crate::headers::{
    PRODUCER_EPOCH, PRODUCER_EXPECTED_SEQ, PRODUCER_RECEIVED_SEQ, STREAM_CLOSED,
    STREAM_EARLIEST_OFFSET, STREAM_NEXT_OFFSET,
};
use crate::pages::PageError;
use crate::problem::ErrorCode;

/// Seconds after which a refused client may try again, drawn anew for each.
pub(crate) const RETRY_AFTER_S: std::ops::RangeInclusive<u32> = 1..=5;

/// One error of one request.
#[derive(Debug)]
pub(crate) struct Problem {
    code: ErrorCode,
    detail: String,
    headers: Vec<(HeaderName, String)>,
    closes: bool,
}

#[derive(Serialize)]
struct Body<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    code: &'a str,
    hint: &'a str,
}

impl Problem {
    pub(crate) fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), headers: Vec::new(), closes: false }
    }

    pub(crate) fn header(mut self, name: HeaderName, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// For the paths that promise plain HTTP: the headers of a problem are the protocol's.
    pub(crate) fn without_headers(mut self) -> Self {
        self.headers.clear();
        self
    }

    /// Ends the connection with the reply: the rest of the request cannot be read.
    fn closing(mut self) -> Self {
        self.closes = true;
        self
    }

    pub(crate) fn reply(self) -> Reply {
        let status = self.code.status();
        let body = Body {
            r#type: format!("urn:squall:error:{}", self.code.as_str()),
            title: self.code.title(),
            status: status.as_u16(),
            detail: &self.detail,
            code: self.code.as_str(),
            hint: self.code.hint(),
        };
        // Strings and a number: this cannot fail.
        let mut body = serde_json::to_vec(&body).unwrap_or_default();
        body.push(b'\n'); // For those who read it in a terminal.
        let mut reply = Reply::new(status)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"))
            .header(CACHE_CONTROL, HeaderValue::from_static("no-store"))
            .whole(Bytes::from(body));
        if status.as_u16() == 503 {
            let seconds = rand::rng().random_range(RETRY_AFTER_S);
            reply = reply.header(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.closes {
            reply = reply.header(CONNECTION, HeaderValue::from_static("close"));
        }
        self.headers.into_iter().fold(reply, |reply, (name, value)| reply.text_header(name, &value))
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let detail = error.to_string();
        match error {
            StoreError::QueueFull { .. } => Self::new(ErrorCode::Overloaded, detail),
            StoreError::Unready(reason) => Self::new(unready_code(reason), detail),
            StoreError::OutcomeUnknown => Self::new(ErrorCode::OutcomeUnknown, detail),
            StoreError::Failed { reason } => {
                let id: u64 = rand::rng().random();
                tracing::error!(error_id = format!("{id:016x}"), %reason, "storage failed");
                Self::new(
                    ErrorCode::StorageFailed,
                    format!("see the server's log for error {id:016x}"),
                )
            }
        }
    }
}

fn unready_code(reason: UnreadyReason) -> ErrorCode {
    match reason {
        UnreadyReason::DiskFull => ErrorCode::DiskFull,
        UnreadyReason::WalFull => ErrorCode::WalFull,
        UnreadyReason::LockedOutside => ErrorCode::StorageLocked,
        UnreadyReason::ShuttingDown => ErrorCode::ShuttingDown,
    }
}

impl From<AppendError> for Problem {
    fn from(error: AppendError) -> Self {
        let detail = error.to_string();
        match error {
            AppendError::NotFound => Self::new(ErrorCode::StreamNotFound, detail),
            AppendError::Closed { tail } => Self::new(ErrorCode::StreamClosed, detail)
                .header(STREAM_CLOSED, "true")
                .header(STREAM_NEXT_OFFSET, tail),
            AppendError::ContentTypeMismatch { .. } => {
                Self::new(ErrorCode::ContentTypeMismatch, detail)
            }
            AppendError::SequenceNotGreater { .. } => {
                Self::new(ErrorCode::SequenceConflict, detail)
            }
            AppendError::ProducerFenced { epoch } => {
                Self::new(ErrorCode::ProducerFenced, detail).header(PRODUCER_EPOCH, epoch)
            }
            AppendError::ProducerGap { expected, received } => {
                Self::new(ErrorCode::ProducerGap, detail)
                    .header(PRODUCER_EXPECTED_SEQ, expected)
                    .header(PRODUCER_RECEIVED_SEQ, received)
            }
            AppendError::ProducerEpochMustStartAtZero => {
                Self::new(ErrorCode::ProducerEpochStart, detail)
            }
            AppendError::ProducersFull { .. } => Self::new(ErrorCode::ProducersFull, detail),
            AppendError::OffsetsExhausted => Self::new(ErrorCode::OffsetsExhausted, detail),
            AppendError::Store(error) => error.into(),
        }
    }
}

impl From<CreateError> for Problem {
    fn from(error: CreateError) -> Self {
        let detail = error.to_string();
        match error {
            CreateError::Differs { .. } => Self::new(ErrorCode::StreamExists, detail),
            CreateError::OffsetsExhausted => Self::new(ErrorCode::OffsetsExhausted, detail),
            CreateError::Store(error) => error.into(),
        }
    }
}

impl From<ReadError> for Problem {
    fn from(error: ReadError) -> Self {
        let detail = error.to_string();
        match error {
            ReadError::NotFound => Self::new(ErrorCode::StreamNotFound, detail),
            ReadError::Trimmed { earliest } => {
                Self::new(ErrorCode::OffsetTrimmed, detail).header(STREAM_EARLIEST_OFFSET, earliest)
            }
            ReadError::BeyondTail { tail } => {
                Self::new(ErrorCode::OffsetBeyondTail, detail).header(STREAM_NEXT_OFFSET, tail)
            }
            ReadError::InsideEvent { .. } => Self::new(ErrorCode::OffsetInsideEvent, detail),
            ReadError::Store(error) => error.into(),
        }
    }
}

impl From<PageError> for Problem {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Busy => Self::new(ErrorCode::Overloaded, "too many pages are being read"),
            PageError::Read(error) => error.into(),
        }
    }
}

impl From<StreamError> for Problem {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::NotFound => Self::new(ErrorCode::StreamNotFound, error.to_string()),
            StreamError::Store(error) => error.into(),
        }
    }
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => {
                Self::new(ErrorCode::BodyTooLarge, "the body is larger than one append may be")
                    .closing()
            }
            BodyError::Busy => {
                Self::new(ErrorCode::Overloaded, "too many request bodies are in flight").closing()
            }
            BodyError::TooSlow => {
                Self::new(ErrorCode::SlowBody, "the body came to a halt for too long").closing()
            }
            BodyError::Broken => {
                Self::new(ErrorCode::BrokenBody, "the body ended early or has broken chunks")
                    .closing()
            }
        }
    }
}

impl From<JsonError> for Problem {
    fn from(error: JsonError) -> Self {
        let code = match error {
            JsonError::Invalid { .. } => ErrorCode::InvalidJson,
            JsonError::TooManyElements { .. } => ErrorCode::TooManyElements,
        };
        Self::new(code, error.to_string())
    }
}

macro_rules! problem_from {
    ($($error:ty => $code:ident;)*) => {
        $(impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                Self::new(ErrorCode::$code, error.to_string())
            }
        })*
    };
}

problem_from! {
    NameError => BadName;
    OffsetError => BadOffset;
    ContentTypeError => BadHeader;
    ExpiryError => BadHeader;
    ProducerError => BadHeader;
}
