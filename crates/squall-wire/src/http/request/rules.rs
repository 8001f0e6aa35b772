//! What a request may be made of.

use super::error::TemplateError;
use super::parts::RequestParts;
use crate::digits::read_decimal;
use crate::http::response::{ChunkedDecoder, ChunkedPart, ResponseLimits, elements};

/// Checks everything that does not depend on the values of fields.
pub(super) fn check(parts: &RequestParts<'_>) -> Result<(), TemplateError> {
    if !is_token(parts.method) {
        return Err(TemplateError::Method { method: parts.method.to_owned() });
    }
    check_target(parts)?;
    if parts.host.bytes().any(is_space_or_control) {
        return Err(TemplateError::Host { host: parts.host.to_owned() });
    }
    for (name, value) in parts.headers {
        if !is_token(name) {
            return Err(TemplateError::HeaderName { name: name.clone() });
        }
        if value.contains(['\r', '\n', '\0']) {
            return Err(TemplateError::HeaderValue { name: name.clone() });
        }
    }
    Ok(())
}

/// The forms of RFC 9112 §3.2, but for the absolute form, which is for proxies.
fn check_target(parts: &RequestParts<'_>) -> Result<(), TemplateError> {
    let target = parts.target;
    let has_form = match parts.method {
        "CONNECT" => !target.is_empty() && !target.starts_with('/'),
        "OPTIONS" if target == "*" => true,
        _ => target.starts_with('/'),
    };
    if !has_form {
        return Err(TemplateError::TargetForm { target: target.to_owned() });
    }
    if target.bytes().any(is_space_or_control) {
        return Err(TemplateError::TargetCharacter { target: target.to_owned() });
    }
    Ok(())
}

/// Checks that what the headers say about the length of the body is true. Says whether they
/// say anything.
pub(super) fn check_length(parts: &RequestParts<'_>, body: &[u8]) -> Result<bool, TemplateError> {
    for value in given(parts, "content-length") {
        let length = read_decimal(value.trim_ascii().as_bytes());
        if length.and_then(|length| usize::try_from(length).ok()) != Some(body.len()) {
            let (given, body_bytes) = (value.clone(), body.len());
            return Err(TemplateError::ContentLength { given, body_bytes });
        }
    }
    let has_length = given(parts, "content-length").next().is_some();
    // Several lines are one list, whose last coding must be the chunked one.
    let Some(coding) = given(parts, "transfer-encoding").last() else {
        return Ok(has_length);
    };
    if has_length {
        return Err(TemplateError::TwoLengths);
    }
    let last = elements(coding.as_bytes()).last().unwrap_or_default();
    if !last.eq_ignore_ascii_case(b"chunked") || !is_chunked(body) {
        return Err(TemplateError::TransferEncoding { given: coding.clone() });
    }
    Ok(true)
}

/// The values of the header that is `known` by this name.
fn given<'p>(parts: &RequestParts<'p>, known: &str) -> impl Iterator<Item = &'p String> {
    let headers = parts.headers.iter();
    headers.filter(move |(name, _)| name.eq_ignore_ascii_case(known)).map(|(_, value)| value)
}

/// Whether the body is one whole message of chunks and nothing else.
fn is_chunked(body: &[u8]) -> bool {
    let mut rest = body;
    let mut decoder = ChunkedDecoder::new();
    loop {
        match decoder.decode(&mut rest, &ResponseLimits::default()) {
            Ok(Some(ChunkedPart::Data(_))) => {}
            Ok(Some(ChunkedPart::End)) => return rest.is_empty(),
            Ok(None) | Err(_) => return false,
        }
    }
}

/// RFC 9110 §5.6.2.
fn is_token(text: &str) -> bool {
    let is_token_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token_byte)
}

fn is_space_or_control(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7F
}
