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
