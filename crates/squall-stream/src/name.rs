//! Stream names: what may name a stream, and why a name is refused.

use std::fmt;
use std::sync::Arc;

use crate::limits::NAME_BYTES_MAX;

/// The name of a stream: 1 to 512 bytes of UTF-8, segments separated by `/`.
///
/// Cheap to clone. No control character, no empty segment, no `.` or `..` segment,
/// and the first segment is not `__ds`, which is kept for control APIs.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamName(Arc<str>);

/// Why a text cannot name a stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// There is nothing that could name a stream.
    #[error("the stream name is empty; it needs 1 to {NAME_BYTES_MAX} bytes")]
    Empty,
    /// The name is longer than [`NAME_BYTES_MAX`].
    #[error("the stream name has {bytes} bytes; at most {NAME_BYTES_MAX} are allowed")]
    TooLong {
        /// Bytes of the name after decoding.
        bytes: usize,
    },
    /// The name holds a character that terminals, logs and headers would act upon.
    #[error("the stream name holds a control character at byte {at}; use printable characters")]
    ControlCharacter {
        /// Byte position of the character.
        at: usize,
    },
    /// Two slashes in a row, or one at either end.
    #[error(
        "the stream name has an empty segment; write a single / between segments, none at the ends"
    )]
    EmptySegment,
    /// A segment that clients and proxies resolve away.
    #[error("the stream name has a segment {segment:?}, which clients resolve as a relative path")]
    DotSegment {
        /// `.` or `..`.
        segment: String,
    },
    /// The first segment belongs to control APIs.
    #[error("the first segment __ds is reserved; choose another")]
    Reserved,
    /// A `%` without two hexadecimal digits behind it.
    #[error(
        "the stream name has a % that is not followed by two hexadecimal digits; write %25 for a %"
    )]
    BrokenEscape,
    /// The decoded bytes are not UTF-8.
    #[error("the stream name is not UTF-8 after percent-decoding")]
    NotUtf8,
}

impl StreamName {
    /// Takes `text` as a stream name.
    ///
    /// # Errors
    /// [`NameError`] names the rule that `text` breaks.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.len() > NAME_BYTES_MAX {
            return Err(NameError::TooLong { bytes: text.len() });
        }
        if let Some((at, _)) = text.char_indices().find(|(_, c)| c.is_control()) {
            return Err(NameError::ControlCharacter { at });
        }
        for segment in text.split('/') {
            match segment {
                "" => return Err(NameError::EmptySegment),
                "." | ".." => {
                    return Err(NameError::DotSegment { segment: segment.to_owned() });
                }
                _ => {}
            }
        }
        if text.split('/').next() == Some("__ds") {
            return Err(NameError::Reserved);
        }
        Ok(Self(Arc::from(text)))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl std::borrow::Borrow<str> for StreamName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<(), NameError>) {
        assert_eq!(StreamName::parse(text).map(|_| ()), expected, "{text:?}");
    }

    #[test]
    fn names_are_paths_of_printable_segments() {
        check("orders", Ok(()));
        check("chat/room 1/日本", Ok(()));
        check("a.b/..c/__ds", Ok(()));
        check("__dsx", Ok(()));
        check(&"x".repeat(NAME_BYTES_MAX), Ok(()));
    }

    #[test]
    fn refusals_say_which_rule_was_broken() {
        check("", Err(NameError::Empty));
        check(&"x".repeat(513), Err(NameError::TooLong { bytes: 513 }));
        check("a\nb", Err(NameError::ControlCharacter { at: 1 }));
        check("a\u{0}", Err(NameError::ControlCharacter { at: 1 }));
        check("a\u{85}b", Err(NameError::ControlCharacter { at: 1 }));
        check("/a", Err(NameError::EmptySegment));
        check("a//b", Err(NameError::EmptySegment));
        check("a/", Err(NameError::EmptySegment));
        check("a/../b", Err(NameError::DotSegment { segment: "..".into() }));
        check(".", Err(NameError::DotSegment { segment: ".".into() }));
        check("__ds", Err(NameError::Reserved));
        check("__ds/jobs", Err(NameError::Reserved));
    }
}
