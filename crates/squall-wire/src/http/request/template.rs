//! The template: one request, ready to be sent.

use super::error::TemplateError;
use super::fields::{Field, FieldKind, FieldValues, expand};
use super::parts::{HttpVersion, RequestParts};
use super::rules;
use crate::http::response::RequestKind;

/// A request whose bytes are built, with the places that change between two sendings.
///
/// Headers are added only where the request would mean something else without them: `Host`,
/// `Content-Length` and `Connection`. Anything more would change what is measured.
///
/// ```
/// use squall_wire::http::request::{FieldValues, HttpVersion, RequestParts, RequestTemplate};
///
/// let template = RequestTemplate::build(&RequestParts {
///     method: "POST",
///     target: "/orders/{{seq:100}}",
///     host: "127.0.0.1:8080",
///     version: HttpVersion::V11,
///     headers: &[("Content-Type".to_owned(), "text/plain".to_owned())],
///     body: b"at {{now_ns}}",
///     keep_alive: true,
///     has_fields: true,
///     has_body_fields: true,
/// })?;
/// let mut out = Vec::new();
/// template.write(&mut out, &mut FieldValues {
///     sequence: 5,
///     time_ns: 99,
///     publisher: 0,
///     publisher_sequence: 0,
///     random: &mut || 4,
/// });
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     "POST /orders/105 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: text/plain\r\n\
///      Content-Length: 23\r\n\r\nat 00000000000000000099",
/// );
/// # Ok::<(), squall_wire::http::request::TemplateError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RequestTemplate {
    bytes: Vec<u8>,
    fields: Vec<Field>,
    kind: RequestKind,
}

impl RequestTemplate {
    /// Builds the bytes of a request.
    ///
    /// # Errors
    /// [`TemplateError`] says which part is malformed, or which two disagree.
    pub fn build(parts: &RequestParts<'_>) -> Result<Self, TemplateError> {
        rules::check(parts)?;
        let mut body = Builder::new(parts.has_body_fields);
        body.push(parts.body)?;
        let has_length = rules::check_length(parts, &body.bytes)?;
        let mut builder = Builder::new(parts.has_fields);
        builder.request_line(parts)?;
        builder.headers(parts)?;
        if !has_length && (!body.bytes.is_empty() || is_expecting_body(parts.method)) {
            builder.header("Content-Length", &body.bytes.len().to_string());
        }
        builder.connection(parts);
        builder.bytes.extend_from_slice(b"\r\n");
        builder.append(body);
        Ok(Self { bytes: builder.bytes, fields: builder.fields, kind: kind(parts.method) })
    }

    /// The request with zeros for the values of its fields: all there is to send if it
    /// [`is_static`](Self::is_static).
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether every sending is the same.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.fields.is_empty()
    }

    /// What the request asks for, as far as the reader of its reply must know.
    #[must_use]
    pub fn kind(&self) -> RequestKind {
        self.kind
    }

    /// Length of every sending, in bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a request is never empty")]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether a field of it is a stamp.
    #[must_use]
    pub fn has_stamp(&self) -> bool {
        self.fields.iter().any(|field| field.kind == FieldKind::Stamp)
    }

    /// Appends one request to `out`, with `values` in its fields.
    pub fn write(&self, out: &mut Vec<u8>, values: &mut FieldValues<'_>) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        let sent = out.get_mut(start..).unwrap_or_default();
        for field in &self.fields {
            if let Some(place) = sent.get_mut(field.range.clone()) {
                field.kind.write(place, values);
            }
        }
    }
}

/// Methods whose requests have a body by their meaning, so that one without a body says so
/// (RFC 9110 §8.6).
fn is_expecting_body(method: &str) -> bool {
    matches!(method, "POST" | "PUT" | "PATCH")
}

fn kind(method: &str) -> RequestKind {
    match method {
        "HEAD" => RequestKind::Head,
        "CONNECT" => RequestKind::Connect,
        _ => RequestKind::Other,
    }
}

/// Bytes and fields so far.
#[derive(Debug)]
struct Builder {
    bytes: Vec<u8>,
    fields: Vec<Field>,
    has_fields: bool,
}

impl Builder {
    fn new(has_fields: bool) -> Self {
        Self { bytes: Vec::new(), fields: Vec::new(), has_fields }
    }

    /// Appends text in which fields may stand.
    fn push(&mut self, text: &[u8]) -> Result<(), TemplateError> {
        if self.has_fields {
            return expand(text, &mut self.bytes, &mut self.fields);
        }
        self.bytes.extend_from_slice(text);
        Ok(())
    }

    fn request_line(&mut self, parts: &RequestParts<'_>) -> Result<(), TemplateError> {
        self.bytes.extend_from_slice(parts.method.as_bytes());
        self.bytes.push(b' ');
        self.push(parts.target.as_bytes())?;
        if let Some(stamp) = self.fields.iter().find(|field| field.kind == FieldKind::Stamp) {
            let field = format!("{{{{stamp:{}}}}}", stamp.range.len());
            return Err(TemplateError::StampInTarget { field });
        }
        self.bytes.extend_from_slice(match parts.version {
            HttpVersion::V10 => b" HTTP/1.0\r\n",
            HttpVersion::V11 => b" HTTP/1.1\r\n",
        });
        Ok(())
    }

    /// The given headers, behind a `Host` that is not among them: RFC 9112 §3.2 wants it first.
    fn headers(&mut self, parts: &RequestParts<'_>) -> Result<(), TemplateError> {
        if !has_header(parts, "host") {
            self.header("Host", parts.host);
        }
        for (name, value) in parts.headers {
            self.bytes.extend_from_slice(name.as_bytes());
            self.bytes.extend_from_slice(b": ");
            if is_about_framing(name) {
                self.bytes.extend_from_slice(value.as_bytes());
            } else {
                self.push(value.as_bytes())?;
            }
            self.bytes.extend_from_slice(b"\r\n");
        }
        Ok(())
    }

    /// What the version does not imply (RFC 9112 §9.3).
    fn connection(&mut self, parts: &RequestParts<'_>) {
        if has_header(parts, "connection") {
            return;
        }
        match (parts.version, parts.keep_alive) {
            (HttpVersion::V11, false) => self.header("Connection", "close"),
            (HttpVersion::V10, true) => self.header("Connection", "keep-alive"),
            _ => {}
        }
    }

    fn header(&mut self, name: &str, value: &str) {
        for text in [name, ": ", value, "\r\n"] {
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }

    fn append(&mut self, other: Self) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        self.fields.extend(other.fields.into_iter().map(|field| Field {
            range: start + field.range.start..start + field.range.end,
            kind: field.kind,
        }));
    }
}

fn has_header(parts: &RequestParts<'_>, known: &str) -> bool {
    parts.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(known))
}

/// Headers that were compared with the body, and so must not change.
fn is_about_framing(name: &str) -> bool {
    ["content-length", "transfer-encoding"].iter().any(|known| name.eq_ignore_ascii_case(known))
}
