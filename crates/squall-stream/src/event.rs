//! Events and pages of them, as engines hand them out.

use bytes::Bytes;

use crate::content_type::ContentType;
use crate::instant::UnixMillis;
use crate::offset::Offset;
use crate::store::StreamId;

/// One stored payload, with the positions before and behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The position before the event.
    pub start: Offset,
    /// The position just behind it; what `id:` shows.
    pub end: Offset,
    /// The bytes as they were sent, never empty.
    pub payload: Bytes,
}

/// Where one event, or the rest of one, ends inside [`Page::data`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageEntry {
    /// The position just behind the event.
    pub end: Offset,
    /// Bytes of [`Page::data`] up to the end of the event.
    pub data_end: usize,
}

/// Events that follow one another, read in one snapshot of their stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The stream, for a reader that must not go on into a later stream of that name.
    pub stream: StreamId,
    /// The stream's content type.
    pub content_type: ContentType,
    /// The position that the page starts at: what was asked for, resolved.
    pub start: Offset,
    /// The payloads, one behind the other. The first may be the rest of an event if
    /// the page starts inside one.
    pub data: Bytes,
    /// One entry for each event.
    pub entries: Vec<PageEntry>,
    /// The position to read on from: the end of the last entry, or `start`.
    pub next: Offset,
    /// The tail in the snapshot of this page.
    pub tail: Offset,
    /// Whether the stream was closed in the snapshot of this page.
    pub closed: bool,
    /// When the stream was created.
    pub created_at: UnixMillis,
}

impl Page {
    /// Whether nothing was stored behind this page when it was read.
    #[must_use]
    pub fn up_to_date(&self) -> bool {
        self.next == self.tail
    }

    /// Whether nothing can ever follow this page.
    #[must_use]
    pub fn ends_stream(&self) -> bool {
        self.closed && self.up_to_date()
    }

    /// The events, or the rest of one at the front, oldest first.
    pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
        let mut start = self.start;
        let mut from = 0;
        self.entries.iter().map(move |entry| {
            let event =
                Event { start, end: entry.end, payload: self.data.slice(from..entry.data_end) };
            (start, from) = (entry.end, entry.data_end);
            event
        })
    }
}
