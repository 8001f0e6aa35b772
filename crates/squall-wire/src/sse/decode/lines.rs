//! Lines, put together from portions of bytes.

use super::error::DecodeError;
use crate::sse::line_ends::LineEnds;

/// Puts lines together. A line that lies whole in one portion is not copied.
#[derive(Debug)]
pub(super) struct Lines {
    /// The start of a line whose end has not come yet, or the line taken last.
    held: Vec<u8>,
    /// `held` is a line that was taken, not one that waits.
    held_is_taken: bool,
    line_ends: LineEnds,
    line_bytes_max: usize,
}

impl Lines {
    pub(super) fn new(line_bytes_max: usize) -> Self {
        Self {
            held: Vec::new(),
            held_is_taken: false,
            line_ends: LineEnds::default(),
            line_bytes_max,
        }
    }

    /// Forgets the line that waits, for a new connection.
    pub(super) fn reset(&mut self) {
        self.held.clear();
        self.held_is_taken = false;
        self.line_ends = LineEnds::default();
    }

    /// Whether no started line waits for its end.
    pub(super) fn is_at_border(&self) -> bool {
        self.held.is_empty() || self.held_is_taken
    }

    /// Takes the next line off `input`, without its end. If there is no end, keeps all of
    /// `input` and returns `None`.
    pub(super) fn take<'l, 'i: 'l>(
        &'l mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<&'l [u8]>, DecodeError> {
        if self.held_is_taken {
            self.held.clear();
            self.held_is_taken = false;
        }
        let portion = self.line_ends.resume(input);
        let Some((line, rest)) = self.line_ends.split(portion) else {
            *input = &[];
            self.hold(portion)?;
            return Ok(None);
        };
        *input = rest;
        if self.held.is_empty() {
            self.check_room(line)?;
            return Ok(Some(line));
        }
        self.hold(line)?;
        self.held_is_taken = true;
        Ok(Some(&self.held))
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        self.check_room(bytes)?;
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    fn check_room(&self, bytes: &[u8]) -> Result<(), DecodeError> {
        let line_bytes_max = self.line_bytes_max;
        if bytes.len() > line_bytes_max.saturating_sub(self.held.len()) {
            return Err(DecodeError::LineTooLong { line_bytes_max });
        }
        Ok(())
    }
}
