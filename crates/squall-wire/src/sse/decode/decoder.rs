//! The decoder: lines into blocks, one connection after another.

use super::block::{Block, Completed};
use super::error::DecodeError;
use super::event::SseItem;
use super::limits::DecodeLimits;
use super::lines::Lines;

/// One of these at the very start of a stream is not part of it; a second one is.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Decodes one stream, and after [`reconnect`](Self::reconnect) the next.
///
/// ```
/// use squall_wire::sse::decode::{SseDecoder, SseItem};
///
/// let mut decoder = SseDecoder::default();
/// let mut data = Vec::new();
/// for portion in [&b"data:hel"[..], b"lo\n", b"\n:\n\n"] {
///     let mut input = portion;
///     while let Some(item) = decoder.decode(&mut input)? {
///         if let SseItem::Event(event) = item {
///             data.push(event.data.to_owned());
///         }
///     }
/// }
/// assert_eq!(data, ["hello"]);
/// # Ok::<(), squall_wire::sse::decode::DecodeError>(())
/// ```
#[derive(Debug)]
pub struct SseDecoder {
    lines: Lines,
    block: Block,
    is_first_line: bool,
    failed: Option<DecodeError>,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::new(DecodeLimits::default())
    }
}

impl SseDecoder {
    /// A decoder at the start of a stream, without a cursor.
    #[must_use]
    pub fn new(limits: DecodeLimits) -> Self {
        Self {
            lines: Lines::new(limits.line_bytes_max),
            block: Block::new(limits),
            is_first_line: true,
            failed: None,
        }
    }

    /// Takes bytes off the front of `input` until an item is complete, and lends it out.
    ///
    /// `None` means that `input` is used up: call again with the next bytes of the stream. At
    /// the end of the stream there is nothing to do, since a message without its blank line
    /// does not count; [`is_at_border`](Self::is_at_border) tells whether there was one.
    ///
    /// # Errors
    /// [`DecodeError`] if a limit is passed. It stays until [`reconnect`](Self::reconnect).
    pub fn decode(&mut self, input: &mut &[u8]) -> Result<Option<SseItem<'_>>, DecodeError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        match self.advance(input) {
            Ok(completed) => Ok(completed.map(|completed| self.block.lend(completed))),
            Err(error) => {
                self.failed = Some(error);
                Err(error)
            }
        }
    }

    /// The cursor: what a client sends as `Last-Event-ID` when it connects again, unless empty.
    ///
    /// It also moves with a block that has an id but no data, for which no event is yielded.
    #[must_use]
    pub fn last_event_id(&self) -> &str {
        self.block.last_event_id()
    }

    /// Sets the cursor, for a client that begins from a position it has kept.
    pub fn set_last_event_id(&mut self, id: &str) {
        self.block.set_last_event_id(id);
    }

    /// Whether the bytes so far end between two blocks, as those of an orderly server do.
    #[must_use]
    pub fn is_at_border(&self) -> bool {
        self.lines.is_at_border() && self.block.is_at_border()
    }

    /// Starts over at the first byte of a new connection. Only the cursor stays, and the room
    /// that the buffers have taken.
    pub fn reconnect(&mut self) {
        self.lines.reset();
        self.block.reset();
        self.is_first_line = true;
        self.failed = None;
    }

    fn advance(&mut self, input: &mut &[u8]) -> Result<Option<Completed>, DecodeError> {
        while let Some(line) = self.lines.take(input)? {
            let is_first_line = std::mem::take(&mut self.is_first_line);
            let line = match line.strip_prefix(BYTE_ORDER_MARK) {
                Some(line) if is_first_line => line,
                _ => line,
            };
            if let Some(completed) = self.block.line(line)? {
                return Ok(Some(completed));
            }
        }
        Ok(None)
    }
}
