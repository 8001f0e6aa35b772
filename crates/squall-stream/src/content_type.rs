//! Content types: how a stream's bytes are framed and compared.

use std::fmt;
use std::sync::Arc;

use crate::limits::CONTENT_TYPE_BYTES_MAX;

/// The media type of a stream, kept as its creator wrote it.
///
/// Two content types match if type and subtype are equal without regard to case;
/// parameters such as `charset` are not compared. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct ContentType {
    text: Text,
    kind: ContentKind,
}

/// The usual types are known by heart: each append names one.
#[derive(Clone)]
enum Text {
    Usual(&'static str),
    Other(Arc<str>),
}

const USUAL: [(&str, ContentKind); 3] = [
    ("application/json", ContentKind::Json),
    ("text/plain", ContentKind::Text),
    ("application/octet-stream", ContentKind::Binary),
];

impl std::ops::Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Usual(text) => text,
            Self::Other(text) => text,
        }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

/// How the bytes of a stream are split into events and shown over Server-Sent Events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentKind {
    /// `application/json`: one event is one element, an append may hold an array of them.
    Json,
    /// `text/*`: bytes that are shown as UTF-8 text.
    Text,
    /// Everything else: bytes that are shown as base64.
    Binary,
}

/// A text that is no media type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no media type; write type/subtype, such as text/plain, in at most {CONTENT_TYPE_BYTES_MAX} bytes"
)]
pub struct ContentTypeError {
    /// What was given.
    pub text: String,
}

impl ContentType {
    /// Takes `text` as a media type.
    ///
    /// # Errors
    /// [`ContentTypeError`] if it is not `type/subtype` with optional parameters, in
    /// printable ASCII of at most 256 bytes.
    pub fn parse(text: &str) -> Result<Self, ContentTypeError> {
        if let Some((usual, kind)) = USUAL.into_iter().find(|(usual, _)| *usual == text) {
            return Ok(Self { text: Text::Usual(usual), kind });
        }
        let trimmed = text.trim_matches([' ', '\t']);
        let essence = essence(trimmed);
        let printable = trimmed.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        let named =
            matches!(essence.split_once('/'), Some((main, sub)) if token(main) && token(sub));
        if !printable || !named || trimmed.len() > CONTENT_TYPE_BYTES_MAX {
            return Err(ContentTypeError { text: text.to_owned() });
        }
        Ok(Self { text: Text::Other(Arc::from(trimmed)), kind: kind_of(essence) })
    }

    /// `application/octet-stream`: what a stream is when its creator says nothing.
    #[must_use]
    pub fn octet_stream() -> Self {
        Self { text: Text::Usual("application/octet-stream"), kind: ContentKind::Binary }
    }

    /// `text/plain`.
    #[must_use]
    pub fn text_plain() -> Self {
        Self { text: Text::Usual("text/plain"), kind: ContentKind::Text }
    }

    /// The media type as its creator wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How bytes of this type are framed.
    #[must_use]
    pub fn kind(&self) -> ContentKind {
        self.kind
    }

    /// Whether both name the same media type, parameters aside.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        let (one, other): (&str, &str) = (&self.text, &other.text);
        one == other || essence(one).eq_ignore_ascii_case(essence(other))
    }
}

impl fmt::Debug for ContentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.text, f)
    }
}

impl fmt::Display for ContentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn essence(text: &str) -> &str {
    text.split(';').next().unwrap_or_default().trim_end_matches([' ', '\t'])
}

fn kind_of(essence: &str) -> ContentKind {
    if essence.eq_ignore_ascii_case("application/json") {
        return ContentKind::Json;
    }
    let main = essence.split('/').next().unwrap_or_default();
    if main.eq_ignore_ascii_case("text") { ContentKind::Text } else { ContentKind::Binary }
}

/// A token of RFC 9110, section 5.6.2.
fn token(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        let check = |text: &str, kind| assert_eq!(ContentType::parse(text).unwrap().kind(), kind);
        check("application/json", ContentKind::Json);
        check("Application/JSON; charset=utf-8", ContentKind::Json);
        check("text/event-stream", ContentKind::Text);
        check("application/ld+json", ContentKind::Binary);
        check("image/png", ContentKind::Binary);
    }

    #[test]
    fn parameters_and_case_do_not_matter_to_a_match() {
        let json = ContentType::parse("application/json").unwrap();
        let other = ContentType::parse(" APPLICATION/json ;charset=utf-8").unwrap();
        assert!(json.matches(&other));
        assert_eq!(other.as_str(), "APPLICATION/json ;charset=utf-8");
        assert!(!json.matches(&ContentType::text_plain()));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["", "json", "/json", "text/", "text/pl ain", "text/plain\r\nX: y", "täxt/plain"]
        {
            assert!(ContentType::parse(text).is_err(), "{text:?}");
        }
        assert!(ContentType::parse(&format!("text/{}", "x".repeat(300))).is_err());
    }
}
