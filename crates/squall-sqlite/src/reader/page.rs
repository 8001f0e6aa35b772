//! Cuts a page out of a stream.

use bytes::Bytes;
use rusqlite::{Rows, params};
use squall_stream::event::PageEntry;
use squall_stream::machine::{StreamState, check_inside, resolve_read};
use squall_stream::request::{Read, ReadError, ReadTarget, StoreError};
use squall_stream::{ContentKind, Offset, Page, ReadFrom};

use crate::reader::Session;
use crate::reader::locate::{Indexed, Located};
use crate::reader::session::failed;
use crate::rows::{count, sql};

/// The part of a page that is read so far.
#[derive(Default)]
struct Collected {
    data: Vec<u8>,
    entries: Vec<PageEntry>,
    /// The position that is reached.
    end: u64,
}

impl Session<'_> {
    /// Reads one page.
    pub(crate) fn page(&mut self, read: &Read) -> Result<Page, ReadError> {
        self.in_snapshot(|session| session.page_of_snapshot(read))
    }

    fn page_of_snapshot(&mut self, read: &Read) -> Result<Page, ReadError> {
        let now = self.shared.now();
        let found = self.stream(&read.target, now)?;
        let (state, _) = found.ok_or(ReadError::NotFound)?;
        let newest_start = match read.from {
            ReadFrom::Last => self.newest_start(&state)?,
            _ => None,
        };
        let position = resolve_read(&state, newest_start, read.from)?;
        let collected = self.collect(&state, position, read.bytes_max)?;
        if matches!(read.target, ReadTarget::Name(_)) {
            self.shared.usage.touch(&state, now);
        }
        let start = Offset::at(position);
        Ok(Page {
            stream: state.stream,
            content_type: state.content_type.clone(),
            start,
            next: collected.entries.last().map_or(start, |entry| entry.end),
            data: Bytes::from(collected.data),
            entries: collected.entries,
            tail: state.tail_offset(),
            closed: state.closing.is_some(),
            created_at: state.created_at,
        })
    }

    fn newest_start(&mut self, state: &StreamState) -> Result<Option<u64>, StoreError> {
        let newest = self.newest_event(state)?;
        Ok(newest.map(|event| event.end.saturating_sub(event.bytes)))
    }

    /// Positions count bytes, so the events of a page are those that end within
    /// `bytes_max` of its start: one range of the index, and one of what it lacks yet.
    fn collect(
        &mut self,
        state: &StreamState,
        position: u64,
        bytes_max: usize,
    ) -> Result<Collected, ReadError> {
        if position >= state.tail {
            return Ok(Collected::default());
        }
        let kind = state.content_type.kind();
        let last = position.saturating_add(bytes_max as u64).min(state.tail);
        let indexed = self.indexed(state)?;
        let mut collected = Collected { end: position, ..Collected::default() };
        let stream = sql(state.stream.0);
        if position < indexed.end {
            let bounds = params![stream, sql(position), sql(last)];
            let rows = self.statements.events_between.query(bounds).map_err(failed)?;
            collected.extend(rows, kind, last)?;
        }
        if collected.end >= indexed.end && collected.end < last {
            let bounds = params![stream, sql(collected.end), sql(last), indexed.up_to];
            let rows = self.statements.recent_events_between.query(bounds).map_err(failed)?;
            collected.extend(rows, kind, last)?;
        }
        if collected.entries.is_empty() {
            return self.single(state, position, indexed);
        }
        Ok(collected)
    }

    /// The one event that is larger than a page, read straight into the page's buffer.
    fn single(
        &mut self,
        state: &StreamState,
        position: u64,
        indexed: Indexed,
    ) -> Result<Collected, ReadError> {
        let Some(event) = self.event_after(state, position, indexed)? else {
            let reason = format!("no event of stream {} is behind {position}", state.stream.0);
            return Err(StoreError::Failed { reason }.into());
        };
        let start = event.end.saturating_sub(event.bytes);
        check_inside(state.content_type.kind(), position, start, event.end)?;
        let data = self.rest(&event, position.saturating_sub(start))?;
        let entries = vec![PageEntry { end: Offset::at(event.end), data_end: data.len() }];
        Ok(Collected { data, entries, end: event.end })
    }

    /// The payload of an event.
    pub(super) fn whole(&mut self, event: &Located) -> Result<Bytes, StoreError> {
        self.rest(event, 0).map(Bytes::from)
    }

    fn rest(&mut self, event: &Located, skipped: u64) -> Result<Vec<u8>, StoreError> {
        let mut data = vec![0; size(event.bytes.saturating_sub(skipped))];
        let blob = self.connection.blob_open("main", "events", "payload", event.seq, true);
        let blob = blob.map_err(failed)?;
        blob.read_at_exact(&mut data, size(skipped)).map_err(failed)?;
        Ok(data)
    }
}

impl Collected {
    /// Adds the events of `rows`, which follow one another from `end` on.
    fn extend(
        &mut self,
        mut rows: Rows<'_>,
        kind: ContentKind,
        last: u64,
    ) -> Result<(), ReadError> {
        while let Some(row) = rows.next().map_err(failed)? {
            let end = count(row.get(0).map_err(failed)?);
            let payload = row.get_ref(1).map_err(failed)?;
            let payload = payload.as_bytes().map_err(|error| failed(error.into()))?;
            let start = end.saturating_sub(payload.len() as u64);
            if self.entries.is_empty() {
                check_inside(kind, self.end, start, end)?;
                self.data.reserve_exact(size(last.saturating_sub(self.end)));
            }
            let skipped = size(self.end.saturating_sub(start));
            self.data.extend_from_slice(payload.get(skipped..).unwrap_or_default());
            self.entries.push(PageEntry { end: Offset::at(end), data_end: self.data.len() });
            self.end = end;
        }
        Ok(())
    }
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
