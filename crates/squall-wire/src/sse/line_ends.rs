//! Line ends in bytes that come in portions: CR, LF and CRLF each end a line, CRLF once.

use memchr::memchr2;

/// Splits lines; knows whether a portion ended in a CR, whose LF may come with the next one.
#[derive(Debug, Default)]
pub(super) struct LineEnds {
    after_cr: bool,
}

impl LineEnds {
    /// Returns `portion` without the LF that belongs to a CR at the end of the portion before.
    ///
    /// Called before the first [`split`](Self::split) of a portion; an empty one changes nothing.
    pub(super) fn resume<'b>(&mut self, portion: &'b [u8]) -> &'b [u8] {
        if !self.after_cr || portion.is_empty() {
            return portion;
        }
        self.after_cr = false;
        portion.strip_prefix(b"\n").unwrap_or(portion)
    }

    /// Returns the line at the start of `bytes` and what follows its end, or `None` if the end
    /// is not there yet.
    pub(super) fn split<'b>(&mut self, bytes: &'b [u8]) -> Option<(&'b [u8], &'b [u8])> {
        let at = memchr2(b'\r', b'\n', bytes)?;
        let (line, line_end) = bytes.split_at_checked(at)?;
        let rest = match line_end {
            [b'\r', b'\n', rest @ ..] | [b'\n', rest @ ..] => rest,
            [b'\r'] => {
                self.after_cr = true;
                &[]
            }
            [_, rest @ ..] => rest,
            [] => return None,
        };
        Some((line, rest))
    }
}
