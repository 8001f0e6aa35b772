//! What the headers of a reply mean for its body and for the connection.

use super::error::FramingError;
use super::part::{BodyFraming, RequestKind};
use crate::digits::read_decimal;

/// What was found in the headers, all that counts here.
#[derive(Debug, Default)]
pub(super) struct HeaderFacts {
    content_length: Option<Result<u64, FramingError>>,
    /// Present if there is a `Transfer-Encoding`: whether the last coding so far is chunked.
    ends_chunked: Option<bool>,
    says_close: bool,
    says_keep_alive: bool,
    pub(super) is_event_stream: bool,
}

impl HeaderFacts {
    /// Takes in one header line. Names are compared by length first, since most are others.
    pub(super) fn header(&mut self, name: &str, value: &[u8]) {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        match name.len() {
            10 if is("connection") => self.connection(value),
            12 if is("content-type") => self.content_type(value),
            14 if is("content-length") => self.content_length(value),
            17 if is("transfer-encoding") => self.transfer_encoding(value),
            _ => {}
        }
    }

    /// How the body ends, by the rules of RFC 9112 §6.3 in their order.
    pub(super) fn framing(
        &self,
        status: u16,
        request: RequestKind,
    ) -> Result<BodyFraming, FramingError> {
        let has_no_body = match (request, status) {
            // What follows is another protocol (RFC 9110 §15.2.2), so the bytes are all its own.
            (_, 101) => return Ok(BodyFraming::UntilClose),
            (_, 100..=199 | 204 | 304) | (RequestKind::Head, _) => true,
            (RequestKind::Connect, 200..=299) => true,
            _ => false,
        };
        if has_no_body {
            return Ok(BodyFraming::Empty);
        }
        match (self.ends_chunked, self.content_length) {
            (Some(true), _) => Ok(BodyFraming::Chunked),
            (Some(false), _) | (None, None) => Ok(BodyFraming::UntilClose),
            (None, Some(length)) => length.map(BodyFraming::Length),
        }
    }

    /// Whether the connection persists behind this reply (RFC 9112 §9.3).
    pub(super) fn keep_alive(&self, is_http_1_0: bool, framing: BodyFraming) -> bool {
        if self.says_close || framing == BodyFraming::UntilClose {
            return false;
        }
        // The framing of a coded HTTP/1.0 reply counts as faulty (RFC 9112 §6.1).
        !is_http_1_0 || (self.says_keep_alive && self.ends_chunked.is_none())
    }

    fn connection(&mut self, value: &[u8]) {
        for option in elements(value) {
            self.says_close |= option.eq_ignore_ascii_case(b"close");
            self.says_keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn content_type(&mut self, value: &[u8]) {
        let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
        self.is_event_stream = trim(essence).eq_ignore_ascii_case(b"text/event-stream");
    }

    /// Equal values are one (RFC 9110 §8.6); an empty element is no value.
    fn content_length(&mut self, value: &[u8]) {
        for element in value.split(|byte| *byte == b',') {
            let length = read_decimal(trim(element)).ok_or(FramingError::ContentLength);
            self.content_length = Some(match (self.content_length, length) {
                (Some(Ok(before)), Ok(length)) if before != length => {
                    Err(FramingError::ContentLengthsDiffer)
                }
                (Some(Err(error)), _) => Err(error),
                (_, length) => length,
            });
        }
    }

    /// Several lines are one list, whose last coding counts.
    fn transfer_encoding(&mut self, value: &[u8]) {
        let before = self.ends_chunked.unwrap_or_default();
        let last = elements(value).last();
        self.ends_chunked =
            Some(last.map_or(before, |coding| coding.eq_ignore_ascii_case(b"chunked")));
    }
}

/// The elements of a comma list without the empty ones (RFC 9110 §5.6.1).
pub(in crate::http) fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(trim).filter(|element| !element.is_empty())
}

/// Without white space around it. The line end of a folded line is as good as a space (RFC 9112
/// §5.2).
fn trim(value: &[u8]) -> &[u8] {
    value.trim_ascii()
}

/// Whether the byte may stand in the value of a header: anything but controls (RFC 9110 §5.5).
/// The same set as that of the parser.
pub(super) fn is_value_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7F)
}
