//! Stored pages as frames: as much of a page as one frame takes.

use squall_stream::{Event, Offset, Page};

use crate::follow::chunk::ChunkBuilder;
use crate::follow::frame::{Border, View, frame};
use crate::follow::ring::{FRAME_BYTES_MAX, MESSAGE_BYTES};

/// By how much more is read after a page that showed nothing.
pub(super) const PAGE_GROWTH: usize = 4;

/// The first events of a page, framed.
pub(super) struct Framed {
    pub(super) events: Vec<Event>,
    pub(super) chunk: ChunkBuilder,
    /// Where to go on.
    pub(super) next: Offset,
    /// Whether these are all events of the page.
    pub(super) whole: bool,
}

impl Framed {
    /// Frames as many events as a frame takes, at least one if there is one; more if those
    /// show nothing but the first bytes of a character.
    pub(super) fn of(page: &Page, view: View) -> Self {
        let mut budget = FRAME_BYTES_MAX + FRAME_BYTES_MAX / 2;
        loop {
            let events = fitting(page, budget);
            let whole = events.len() == page.entries.len();
            let mut chunk = ChunkBuilder::with_capacity(frame_bytes(&events));
            let mut next = page.next;
            if !events.is_empty() {
                let up_to_date = whole && page.up_to_date();
                let border = Border { up_to_date, ends_stream: up_to_date && page.closed };
                next = frame(chunk.out(), view, &events, border);
            }
            if whole || !chunk.is_empty() {
                return Self { events, chunk, next, whole };
            }
            budget = budget.saturating_mul(PAGE_GROWTH);
        }
    }
}

/// The events of a page that take up to `budget` bytes in a frame, at least one.
fn fitting(page: &Page, budget: usize) -> Vec<Event> {
    let mut bytes = 0;
    let fits = |event: &Event| {
        let is_first = bytes == 0;
        bytes += event.payload.len() + MESSAGE_BYTES;
        is_first || bytes <= budget
    };
    page.events().take_while(fits).collect()
}

/// What the events are likely to take in a frame, in bytes.
fn frame_bytes(events: &[Event]) -> usize {
    events.iter().map(|event| event.payload.len() + MESSAGE_BYTES).sum()
}

/// Payload bytes to ask for so that a frame of events like these is full.
pub(super) fn fitting_page(events: &[Event]) -> usize {
    let framed = frame_bytes(events);
    let payload = framed - events.len() * MESSAGE_BYTES;
    match framed {
        0 => FRAME_BYTES_MAX,
        framed => (FRAME_BYTES_MAX.saturating_mul(payload) / framed).max(1),
    }
}
