//! What the targets share: decoding in portions, with nothing borrowed.

pub mod framing;

use squall_wire::sse::decode::{DecodeError, SseDecoder, SseItem};

/// An item of the stream that owns its text.
#[derive(Debug, PartialEq)]
pub enum Item {
    /// A message.
    Event {
        last_event_id: String,
        carries_id: bool,
        event: String,
        data: String,
    },
    /// A comment.
    Comment(String),
    /// A wait, in milliseconds.
    Retry(u64),
}

impl From<SseItem<'_>> for Item {
    fn from(item: SseItem<'_>) -> Self {
        match item {
            SseItem::Event(event) => Self::Event {
                last_event_id: event.last_event_id.to_owned(),
                carries_id: event.carries_id,
                event: event.event.to_owned(),
                data: event.data.to_owned(),
            },
            SseItem::Comment(text) => Self::Comment(text.to_owned()),
            SseItem::Retry(retry_ms) => Self::Retry(retry_ms),
            other => panic!("unknown item {other:?}"),
        }
    }
}

/// All that a stream led to.
#[derive(Debug, PartialEq)]
pub struct Decoded {
    /// The items before the end or the error.
    pub items: Vec<Item>,
    /// The cursor at the end or the error.
    pub last_event_id: String,
    /// Why decoding stopped early, or whether it stopped between two blocks.
    pub end: Result<bool, DecodeError>,
}

/// Decodes `wire` in portions of the lengths in `cuts`, over and over; at once if there are none.
pub fn decode(mut decoder: SseDecoder, wire: &[u8], cuts: &[u8]) -> Decoded {
    let mut items = Vec::new();
    let mut failed = None;
    for mut portion in Portions::new(wire, cuts) {
        while failed.is_none() {
            match decoder.decode(&mut portion) {
                Ok(Some(item)) => items.push(item.into()),
                Ok(None) => break,
                Err(error) => failed = Some(error),
            }
        }
    }
    let last_event_id = decoder.last_event_id().to_owned();
    Decoded {
        items,
        last_event_id,
        end: failed.map_or(Ok(decoder.is_at_border()), Err),
    }
}

/// Cuts bytes into portions; a length of zero gives an empty portion and then one of one byte.
#[derive(Debug)]
pub struct Portions<'a> {
    rest: &'a [u8],
    cuts: std::iter::Cycle<std::slice::Iter<'a, u8>>,
    was_empty: bool,
}

impl<'a> Portions<'a> {
    /// Portions of the lengths in `cuts`, over and over; one of everything if there are none.
    pub fn new(bytes: &'a [u8], cuts: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            cuts: cuts.iter().cycle(),
            was_empty: false,
        }
    }
}

impl<'a> Iterator for Portions<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let len = match self.cuts.next() {
            Some(0) if self.was_empty => 1,
            Some(len) => usize::from(*len),
            None => self.rest.len(),
        };
        self.was_empty = len == 0;
        let (portion, rest) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = rest;
        Some(portion)
    }
}
