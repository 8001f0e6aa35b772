//! Header names of the Durable Streams protocol, and how their values are read.

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};
use squall_stream::limits::STREAM_SEQ_BYTES_MAX;
use squall_stream::producer::{ProducerClaim, ProducerId, ProducerPosition, parse_number};

use crate::problem::{ErrorCode, Problem};

pub(crate) const STREAM_NEXT_OFFSET: HeaderName = HeaderName::from_static("stream-next-offset");
pub(crate) const STREAM_EARLIEST_OFFSET: HeaderName =
    HeaderName::from_static("stream-earliest-offset");
pub(crate) const STREAM_UP_TO_DATE: HeaderName = HeaderName::from_static("stream-up-to-date");
pub(crate) const STREAM_CLOSED: HeaderName = HeaderName::from_static("stream-closed");
pub(crate) const STREAM_CURSOR: HeaderName = HeaderName::from_static("stream-cursor");
pub(crate) const STREAM_SEQ: HeaderName = HeaderName::from_static("stream-seq");
pub(crate) const STREAM_TTL: HeaderName = HeaderName::from_static("stream-ttl");
pub(crate) const STREAM_EXPIRES_AT: HeaderName = HeaderName::from_static("stream-expires-at");
pub(crate) const STREAM_FORKED_FROM: HeaderName = HeaderName::from_static("stream-forked-from");
pub(crate) const STREAM_FORK_OFFSET: HeaderName = HeaderName::from_static("stream-fork-offset");
pub(crate) const STREAM_FORK_SUB_OFFSET: HeaderName =
    HeaderName::from_static("stream-fork-sub-offset");
pub(crate) const STREAM_SSE_DATA_ENCODING: HeaderName =
    HeaderName::from_static("stream-sse-data-encoding");
pub(crate) const PRODUCER_ID: HeaderName = HeaderName::from_static("producer-id");
pub(crate) const PRODUCER_EPOCH: HeaderName = HeaderName::from_static("producer-epoch");
pub(crate) const PRODUCER_SEQ: HeaderName = HeaderName::from_static("producer-seq");
pub(crate) const PRODUCER_EXPECTED_SEQ: HeaderName =
    HeaderName::from_static("producer-expected-seq");
pub(crate) const PRODUCER_RECEIVED_SEQ: HeaderName =
    HeaderName::from_static("producer-received-seq");
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
pub(crate) const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
pub(crate) const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");

/// Headers that pages of another origin may read.
pub(crate) const EXPOSED: &str = "Stream-Next-Offset, Stream-Earliest-Offset, Stream-Up-To-Date, \
Stream-Closed, Stream-Cursor, Stream-Seq, Stream-TTL, Stream-Expires-At, Stream-SSE-Data-Encoding, \
Producer-Epoch, Producer-Seq, Producer-Expected-Seq, Producer-Received-Seq, ETag, Location, \
Content-Type, Retry-After";

/// Headers that pages of another origin may send.
pub(crate) const ACCEPTED: &str = "Content-Type, If-None-Match, Last-Event-ID, Cache-Control, \
Authorization, Stream-Closed, Stream-Seq, Stream-TTL, Stream-Expires-At, Stream-Forked-From, \
Stream-Fork-Offset, Stream-Fork-Sub-Offset, Producer-Id, Producer-Epoch, Producer-Seq";

/// The value of a header that may be sent once, if it is.
pub(crate) fn single<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, Problem> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(Problem::new(ErrorCode::BadHeader, format!("{name} is sent more than once")));
    }
    let text = std::str::from_utf8(value.as_bytes()).ok().map(str::trim);
    text.map(Some).ok_or_else(|| Problem::new(ErrorCode::BadHeader, format!("{name} is not UTF-8")))
}

/// Whether `Stream-Closed` says true. Any other value counts as absent, as the protocol has it.
pub(crate) fn asks_to_close(headers: &HeaderMap) -> bool {
    let is_true = |value: &HeaderValue| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"true");
    headers.get(STREAM_CLOSED).is_some_and(is_true)
}

/// The producer that an append claims: all three headers, or none.
pub(crate) fn producer(headers: &HeaderMap) -> Result<Option<ProducerClaim>, Problem> {
    let id = single(headers, &PRODUCER_ID)?;
    let epoch = single(headers, &PRODUCER_EPOCH)?;
    let seq = single(headers, &PRODUCER_SEQ)?;
    match (id, epoch, seq) {
        (None, None, None) => Ok(None),
        (Some(id), Some(epoch), Some(seq)) => Ok(Some(ProducerClaim {
            id: ProducerId::parse(id)?,
            position: ProducerPosition {
                epoch: parse_number("Producer-Epoch", epoch)?,
                seq: parse_number("Producer-Seq", seq)?,
            },
        })),
        _ => Err(Problem::new(
            ErrorCode::BadHeader,
            "Producer-Id, Producer-Epoch and Producer-Seq go together; send all three or none",
        )),
    }
}

/// The `Stream-Seq` of an append.
pub(crate) fn stream_seq(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    match single(headers, &STREAM_SEQ)? {
        Some(seq) if seq.len() > STREAM_SEQ_BYTES_MAX => Err(Problem::new(
            ErrorCode::BadHeader,
            format!(
                "Stream-Seq has {} bytes; at most {STREAM_SEQ_BYTES_MAX} are allowed",
                seq.len()
            ),
        )),
        seq => Ok(seq.map(str::to_owned)),
    }
}
