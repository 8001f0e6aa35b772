//! The data of one message, from one slice or from several that lie apart.

use super::block::Fields;
use super::error::EncodeError;
use crate::sse::line_ends::LineEnds;

/// Appends one message whose data comes in consecutive slices.
///
/// The bytes written are those of [`message`](super::message) on the joined slices, wherever
/// they are cut: in a CRLF, before a leading space, in a character. Dropped before
/// [`finish`](Self::finish), it takes back all it wrote, so no half message stays behind.
#[derive(Debug)]
#[must_use = "a message that is not finished is taken back"]
pub struct DataWriter<'a> {
    out: &'a mut Vec<u8>,
    /// Where the message begins in `out`.
    start: usize,
    /// The line is open and has no byte yet, so a space would be stripped by the client.
    at_line_start: bool,
    line_ends: LineEnds,
    finished: bool,
}

impl<'a> DataWriter<'a> {
    /// Appends the fields and opens the first line of data.
    ///
    /// # Errors
    /// [`EncodeError`] if the id or the name cannot be framed; then nothing was appended.
    pub fn begin(out: &'a mut Vec<u8>, fields: &Fields<'_>) -> Result<Self, EncodeError> {
        let start = out.len();
        fields.write(out)?;
        out.extend_from_slice(b"data:");
        let line_ends = LineEnds::default();
        Ok(Self { out, start, at_line_start: true, line_ends, finished: false })
    }

    /// Appends the next bytes of the data. An empty slice changes nothing.
    pub fn push(&mut self, slice: &[u8]) {
        let mut rest = self.line_ends.resume(slice);
        while let Some((line, behind)) = self.line_ends.split(rest) {
            self.push_text(line);
            self.open_line();
            rest = behind;
        }
        self.push_text(rest);
    }

    /// Ends the last line and the message.
    pub fn finish(mut self) {
        self.out.extend_from_slice(b"\n\n");
        self.finished = true;
    }

    /// Appends bytes without a line end.
    fn push_text(&mut self, text: &[u8]) {
        if self.at_line_start
            && let Some(first) = text.first()
        {
            if *first == b' ' {
                self.out.push(b' ');
            }
            self.at_line_start = false;
        }
        self.out.extend_from_slice(text);
    }

    fn open_line(&mut self) {
        self.out.extend_from_slice(b"\ndata:");
        self.at_line_start = true;
    }
}

impl Drop for DataWriter<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.out.truncate(self.start);
        }
    }
}
