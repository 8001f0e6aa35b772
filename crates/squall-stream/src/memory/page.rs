//! Cuts a page out of the events of a stream.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use crate::event::{Event, Page, PageEntry};
use crate::machine::{StreamState, check_inside, resolve_read};
use crate::offset::{Offset, ReadFrom};
use crate::request::ReadError;

/// The page of `events` that starts at `from` and holds `bytes_max` bytes, or one event.
pub(super) fn cut(
    state: &StreamState,
    events: &VecDeque<Event>,
    from: ReadFrom,
    bytes_max: usize,
) -> Result<Page, ReadError> {
    let newest_start = events.back().and_then(|event| event.start.position());
    let position = resolve_read(state, newest_start, from)?;
    let start = Offset::at(position);
    let first = events.partition_point(|event| event.end <= start);
    let mut skipped = 0;
    if let Some(event) = events.get(first) {
        let from = event.start.position().unwrap_or(position);
        let end = event.end.position().unwrap_or(position);
        check_inside(state.content_type.kind(), position, from, end)?;
        skipped = usize::try_from(position - from).unwrap_or(event.payload.len());
    }
    let (data, entries) = collect(events.range(first..), skipped, bytes_max);
    Ok(Page {
        stream: state.stream,
        content_type: state.content_type.clone(),
        start,
        next: entries.last().map_or(start, |entry| entry.end),
        data,
        entries,
        tail: state.tail_offset(),
        closed: state.closing.is_some(),
        created_at: state.created_at,
    })
}

/// Joins payloads, leaving out the first `skipped` bytes, until the page is full.
fn collect<'a>(
    events: impl Iterator<Item = &'a Event>,
    skipped: usize,
    bytes_max: usize,
) -> (Bytes, Vec<PageEntry>) {
    let mut data = BytesMut::new();
    let mut entries = Vec::new();
    let mut skipped = skipped;
    for event in events {
        let rest = event.payload.get(skipped..).unwrap_or_default();
        if !entries.is_empty() && data.len() + rest.len() > bytes_max {
            break;
        }
        data.extend_from_slice(rest);
        entries.push(PageEntry { end: event.end, data_end: data.len() });
        skipped = 0;
    }
    (data.freeze(), entries)
}
