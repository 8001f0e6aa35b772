//! UTF-8 that arrives in pieces or broken.
//!
//! A stream cuts bytes where its writers did, which may be inside a character. A sender of text
//! holds back [what is cut](complete_len) until the rest is there, and [replaces](push_lossy)
//! what no further byte can mend.

/// What stands for an invalid sequence.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// A sequence has at most 4 bytes, so at most 3 of one that is cut are there.
const CUT_BYTES_MAX: usize = 3;

/// Returns the length of the prefix of `bytes` that does not end inside a character.
///
/// Only a final sequence of 1 to 3 bytes that further bytes could complete is left out. Bytes
/// that are invalid whatever follows belong to the prefix: waiting would not mend them.
#[must_use]
pub fn complete_len(bytes: &[u8]) -> usize {
    let tail_start = bytes.len().saturating_sub(CUT_BYTES_MAX);
    let tail = bytes.get(tail_start..).unwrap_or_default();
    let Some(lead) = tail.iter().rposition(|byte| !is_continuation(*byte)) else {
        return bytes.len();
    };
    let sequence = tail.get(lead..).unwrap_or_default();
    match std::str::from_utf8(sequence) {
        Err(error) if error.error_len().is_none() => tail_start + lead,
        _ => bytes.len(),
    }
}

/// Appends `bytes` with each invalid sequence replaced by U+FFFD, as a browser would.
///
/// A sequence cut at the end counts as invalid: see [`complete_len`].
pub fn push_lossy(out: &mut Vec<u8>, bytes: &[u8]) {
    out.reserve(bytes.len());
    // Checking the whole is several times faster than chunk by chunk, and nearly all is valid.
    if std::str::from_utf8(bytes).is_ok() {
        out.extend_from_slice(bytes);
        return;
    }
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            out.extend_from_slice(REPLACEMENT);
        }
    }
}

/// Whether `byte` can only stand inside a sequence, not begin one.
const fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::{complete_len, push_lossy};

    #[track_caller]
    fn check_complete(bytes: impl AsRef<[u8]>, held_back: usize) {
        let bytes = bytes.as_ref();
        assert_eq!(complete_len(bytes), bytes.len() - held_back, "{bytes:x?}");
    }

    #[track_caller]
    fn check_lossy(bytes: &[u8], expected: &str) {
        let mut out = b"kept ".to_vec();
        push_lossy(&mut out, bytes);
        assert_eq!(String::from_utf8(out).unwrap(), format!("kept {expected}"));
    }

    #[test]
    fn whole_characters_are_complete() {
        for text in ["", "a", "é", "€", "😀", "ab😀", "\u{10FFFF}", "\u{D7FF}\u{E000}"] {
            check_complete(text, 0);
        }
    }

    #[test]
    fn a_cut_character_is_held_back() {
        for text in ["é", "€", "😀", "\u{800}", "\u{D7FF}", "\u{10000}", "\u{10FFFF}"] {
            for len in 1..text.len() {
                check_complete([b"a", &text.as_bytes()[..len]].concat(), len);
                check_complete([b"\xFF", &text.as_bytes()[..len]].concat(), len);
            }
        }
    }

    /// Nothing that follows makes these valid, so they must not wait.
    #[test]
    fn what_is_broken_is_not_held_back() {
        check_complete(b"\xFF", 0);
        check_complete(b"\x80\x80\x80", 0);
        check_complete(b"a\xC0", 0);
        check_complete(b"\xC1", 0);
        check_complete(b"\xE0\x80", 0); // Overlong.
        check_complete(b"\xED\xA0", 0); // Surrogate.
        check_complete(b"\xF0\x80", 0); // Overlong.
        check_complete(b"\xF4\x90", 0); // Beyond U+10FFFF.
        check_complete(b"\xF5", 0);
        check_complete(b"\xC3\xA9\x80", 0);
        check_complete(b"\xF0\x9F\x98\x80\x80\x80", 0);
    }

    #[test]
    fn invalid_sequences_become_replacements() {
        check_lossy(b"", "");
        check_lossy("a😀".as_bytes(), "a😀");
        check_lossy(b"a\xFFb", "a\u{FFFD}b");
        check_lossy(b"\xF0\x9F\x98", "\u{FFFD}");
        check_lossy(b"\xED\xA0\x80", "\u{FFFD}\u{FFFD}\u{FFFD}");
    }
}
