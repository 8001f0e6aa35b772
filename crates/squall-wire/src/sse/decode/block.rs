//! The fields of the block that is being read, and the cursor.

use memchr::memchr;

use super::error::DecodeError;
use super::event::{SseEvent, SseItem};
use super::limits::DecodeLimits;

/// The name of an event that has none.
const DEFAULT_EVENT: &str = "message";

/// What a line completed. The values stay in the block, which lends them out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Completed {
    Event,
    Comment,
    Retry(u64),
}

/// Gathers fields until a blank line.
#[derive(Debug, Default)]
pub(super) struct Block {
    limits: DecodeLimits,
    data: String,
    /// There was a data line, perhaps an empty one; without one no event fires.
    has_data: bool,
    event: String,
    /// The id of this block. It becomes the cursor at the blank line, not before.
    id: String,
    has_id: bool,
    last_event_id: String,
    comment: String,
    /// The blank line has come and the fields are lent out.
    is_complete: bool,
}

impl Block {
    pub(super) fn new(limits: DecodeLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Forgets the block, for a new connection. The cursor stays.
    pub(super) fn reset(&mut self) {
        self.data.clear();
        self.has_data = false;
        self.event.clear();
        self.has_id = false;
        self.is_complete = false;
    }

    pub(super) fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    pub(super) fn set_last_event_id(&mut self, id: &str) {
        self.last_event_id.clear();
        self.last_event_id.push_str(id);
    }

    /// Whether no field waits for its blank line.
    pub(super) fn is_at_border(&self) -> bool {
        self.is_complete || !(self.has_data || self.has_id || !self.event.is_empty())
    }

    /// Lends out what the last line completed.
    pub(super) fn lend(&self, completed: Completed) -> SseItem<'_> {
        match completed {
            Completed::Event => SseItem::Event(SseEvent {
                last_event_id: &self.last_event_id,
                carries_id: self.has_id,
                event: if self.event.is_empty() { DEFAULT_EVENT } else { &self.event },
                data: &self.data,
            }),
            Completed::Comment => SseItem::Comment(&self.comment),
            Completed::Retry(retry_ms) => SseItem::Retry(retry_ms),
        }
    }

    /// Takes in one line, without its end.
    pub(super) fn line(&mut self, line: &[u8]) -> Result<Option<Completed>, DecodeError> {
        if self.is_complete {
            self.reset();
        }
        let Some(colon) = memchr(b':', line) else {
            return if line.is_empty() { Ok(self.blank_line()) } else { self.field(line, b"") };
        };
        let (name, from_colon) = line.split_at_checked(colon).unwrap_or((line, b""));
        let value = from_colon.get(1..).unwrap_or_default();
        if name.is_empty() {
            return self.comment(value);
        }
        // One space belongs to the format; a second one is the sender's.
        self.field(name, value.strip_prefix(b" ").unwrap_or(value))
    }

    fn blank_line(&mut self) -> Option<Completed> {
        if self.has_id {
            std::mem::swap(&mut self.last_event_id, &mut self.id);
        }
        self.is_complete = true;
        self.has_data.then_some(Completed::Event)
    }

    fn comment(&mut self, text: &[u8]) -> Result<Option<Completed>, DecodeError> {
        set_text(&mut self.comment, text, self.limits)?;
        Ok(Some(Completed::Comment))
    }

    fn field(&mut self, name: &[u8], value: &[u8]) -> Result<Option<Completed>, DecodeError> {
        match name {
            b"data" => self.push_data(value)?,
            b"event" => set_text(&mut self.event, value, self.limits)?,
            b"id" if memchr(b'\0', value).is_none() => {
                set_text(&mut self.id, value, self.limits)?;
                self.has_id = true;
            }
            b"retry" => return Ok(parse_retry(value).map(Completed::Retry)),
            _ => {} // An unknown field is for a later version of the format.
        }
        Ok(None)
    }

    fn push_data(&mut self, value: &[u8]) -> Result<(), DecodeError> {
        let event_bytes_max = self.limits.event_bytes_max;
        let line_end: &[u8] = if self.has_data { b"\n" } else { b"" };
        self.has_data = true;
        push_text(&mut self.data, line_end, event_bytes_max)
            .and_then(|()| push_text(&mut self.data, value, event_bytes_max))
            .map_err(|TextTooLong| DecodeError::EventTooLong { event_bytes_max })
    }
}

/// The text would outgrow its limit.
struct TextTooLong;

fn set_text(text: &mut String, value: &[u8], limits: DecodeLimits) -> Result<(), DecodeError> {
    let line_bytes_max = limits.line_bytes_max;
    text.clear();
    push_text(text, value, line_bytes_max)
        .map_err(|TextTooLong| DecodeError::LineTooLong { line_bytes_max })
}

/// Decodes `bytes` line by line, which is the same as decoding the stream at once: no line end
/// is ever part of a longer sequence.
fn push_text(text: &mut String, bytes: &[u8], bytes_max: usize) -> Result<(), TextTooLong> {
    if let Ok(valid) = std::str::from_utf8(bytes) {
        return push_bounded(text, valid, bytes_max);
    }
    for chunk in bytes.utf8_chunks() {
        push_bounded(text, chunk.valid(), bytes_max)?;
        if !chunk.invalid().is_empty() {
            push_bounded(text, "\u{FFFD}", bytes_max)?;
        }
    }
    Ok(())
}

fn push_bounded(text: &mut String, more: &str, bytes_max: usize) -> Result<(), TextTooLong> {
    if more.len() > bytes_max.saturating_sub(text.len()) {
        return Err(TextTooLong);
    }
    text.push_str(more);
    Ok(())
}

/// Digits only, so neither a sign nor a space; too many of them wait as long as can be.
fn parse_retry(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = value.iter().map(|byte| u64::from(byte - b'0'));
    Some(digits.fold(0, |sum: u64, digit| sum.saturating_mul(10).saturating_add(digit)))
}
