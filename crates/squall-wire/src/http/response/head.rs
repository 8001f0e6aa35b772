//! One head, from its bytes.

use std::mem::MaybeUninit;
use std::ops::Range;

use httparse::{Header, ParserConfig, Response, Status};
use memchr::memrchr;

use super::error::FramingError;
use super::framing::{HeaderFacts, is_value_byte};
use super::limits::ResponseLimits;
use super::part::{RequestKind, ResponseHead};

/// Headers that are read without an allocation, 32 bytes each.
const HEADERS_ON_STACK: usize = 64;

/// Length of a date in a head, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
const DATE_BYTES: usize = 29;

/// A head that came whole.
#[derive(Debug)]
pub(super) struct ParsedHead {
    pub(super) head: ResponseHead,
    /// Length, in bytes.
    pub(super) len: usize,
    pub(super) headers: usize,
    /// Where the value of `Date` stands, empty if there is none of the usual length.
    pub(super) date: Range<usize>,
}

/// Reads the head at the front of `bytes`, or says that it is not there as a whole.
///
/// A line that has not come whole is not judged, so that the verdict does not depend on where
/// the bytes are cut. Only what cannot be HTTP at all is refused at its first bytes: the rest of
/// its first line may never come.
pub(super) fn parse(
    bytes: &[u8],
    request: RequestKind,
    limits: &ResponseLimits,
) -> Result<Option<ParsedHead>, FramingError> {
    match parse_lines(bytes, request, limits) {
        Ok(parsed) => Ok(parsed),
        Err(FramingError::NotHttp) => Err(FramingError::NotHttp),
        Err(error) => {
            let lines = memrchr(b'\n', bytes).map_or(0, |line_feed| line_feed + 1);
            if lines == bytes.len() {
                return Err(error);
            }
            parse_lines(bytes.get(..lines).unwrap_or_default(), request, limits)
        }
    }
}

fn parse_lines(
    bytes: &[u8],
    request: RequestKind,
    limits: &ResponseLimits,
) -> Result<Option<ParsedHead>, FramingError> {
    let mut on_stack = [const { MaybeUninit::uninit() }; HEADERS_ON_STACK];
    let slots = limits.headers_max.min(HEADERS_ON_STACK);
    let parsed = parse_into(bytes, request, on_stack.get_mut(..slots).unwrap_or_default());
    match parsed {
        Err(httparse::Error::TooManyHeaders) if limits.headers_max > slots => {
            let mut slots = vec![MaybeUninit::uninit(); limits.headers_max];
            parse_into(bytes, request, &mut slots)
        }
        parsed => parsed,
    }
    .map_err(|error| named(error, limits))?
    .transpose()
}

/// The outer error is about the text, the inner one about what it says.
type Parsed = Result<Option<Result<ParsedHead, FramingError>>, httparse::Error>;

fn parse_into<'b>(
    bytes: &'b [u8],
    request: RequestKind,
    slots: &mut [MaybeUninit<Header<'b>>],
) -> Parsed {
    // What servers do, and what has one meaning only: folded lines (RFC 9112 §5.2), white space
    // before a colon (§5.1), and more than one space in the status line (§4).
    let mut config = ParserConfig::default();
    config
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .allow_multiple_spaces_in_response_status_delimiters(true);
    let mut response = Response::new(&mut []);
    let status = config.parse_response_with_uninit_headers(&mut response, bytes, slots)?;
    Ok(match status {
        Status::Complete(len) => Some(meaning(bytes, &response, len, request)),
        Status::Partial => None,
    })
}

fn meaning(
    bytes: &[u8],
    response: &Response<'_, '_>,
    len: usize,
    request: RequestKind,
) -> Result<ParsedHead, FramingError> {
    let mut facts = HeaderFacts::default();
    let mut date = len..len;
    for header in response.headers.iter() {
        facts.header(header.name, header.value);
        if header.name.eq_ignore_ascii_case("date") {
            date = maskable(bytes, header.value).unwrap_or(date);
        }
    }
    let status = response.code.unwrap_or_default();
    let framing = facts.framing(status, request)?;
    let head = ResponseHead {
        status,
        keep_alive: facts.keep_alive(response.version == Some(0), framing),
        framing,
        is_event_stream: facts.is_event_stream,
        head_bytes: u32::try_from(len).unwrap_or(u32::MAX),
    };
    Ok(ParsedHead { head, len, headers: response.headers.len(), date })
}

/// Where `value` stands in `bytes`, if it is one line as long as a date.
fn maskable(bytes: &[u8], value: &[u8]) -> Option<Range<usize>> {
    let start = value.as_ptr().addr().checked_sub(bytes.as_ptr().addr())?;
    let is_date = value.len() == DATE_BYTES && value.iter().copied().all(is_value_byte);
    is_date.then_some(start..start + DATE_BYTES)
}

fn named(error: httparse::Error, limits: &ResponseLimits) -> FramingError {
    match error {
        httparse::Error::Version => FramingError::NotHttp,
        httparse::Error::HeaderName => FramingError::HeaderName,
        httparse::Error::HeaderValue => FramingError::HeaderValue,
        httparse::Error::NewLine => FramingError::LineEnd,
        httparse::Error::TooManyHeaders => {
            FramingError::TooManyHeaders { headers_max: limits.headers_max }
        }
        httparse::Error::Status | httparse::Error::Token => FramingError::StatusLine,
    }
}
