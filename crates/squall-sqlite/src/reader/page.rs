//! Cuts a page out of a stream.

use bytes::Bytes;
use rusqlite::{Statement, params};
use squall_stream::event::PageEntry;
use squall_stream::machine::{StreamState, check_inside, resolve_read};
use squall_stream::request::{Read, ReadError, ReadTarget, StoreError};
use squall_stream::{Offset, Page, ReadFrom};

use crate::reader::Session;
use crate::reader::session::failed;
use crate::rows::{count, sql};

/// Where one event is, without its payload.
pub(super) struct Located {
    /// The row in `events`.
    seq: i64,
    /// The position just behind the event.
    end: u64,
    /// Bytes of the payload.
    bytes: u64,
}

/// The part of a page that is read so far.
#[derive(Default)]
struct Collected {
    data: Vec<u8>,
    entries: Vec<PageEntry>,
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
            ReadFrom::Last if state.events > 0 => self.newest_start(&state)?,
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
        let newest = self.event_by_end(state, state.tail)?;
        Ok(newest.map(|event| event.end.saturating_sub(event.bytes)))
    }

    /// Positions count bytes, so the events of a page are those that end within
    /// `bytes_max` of its start: one range of the index.
    fn collect(
        &mut self,
        state: &StreamState,
        position: u64,
        bytes_max: usize,
    ) -> Result<Collected, ReadError> {
        if position >= state.tail {
            return Ok(Collected::default());
        }
        let last = position.saturating_add(bytes_max as u64).min(state.tail);
        let collected = self.range(state, position, last)?;
        if !collected.entries.is_empty() {
            return Ok(collected);
        }
        self.single(state, position)
    }

    fn range(
        &mut self,
        state: &StreamState,
        position: u64,
        last: u64,
    ) -> Result<Collected, ReadError> {
        let statement = &mut self.statements.events_between;
        let bounds = params![sql(state.stream.0), sql(position), sql(last)];
        let mut rows = statement.query(bounds).map_err(failed)?;
        let mut collected = Collected::default();
        while let Some(row) = rows.next().map_err(failed)? {
            let end = count(row.get(0).map_err(failed)?);
            let payload = row.get_ref(1).map_err(failed)?;
            let payload = payload.as_bytes().map_err(|error| failed(error.into()))?;
            let mut rest = payload;
            if collected.entries.is_empty() {
                let start = end.saturating_sub(payload.len() as u64);
                check_inside(state.content_type.kind(), position, start, end)?;
                let skipped = usize::try_from(position.saturating_sub(start)).unwrap_or(0);
                rest = payload.get(skipped..).unwrap_or_default();
                let bytes = usize::try_from(last - position).unwrap_or(0);
                collected.data.reserve_exact(bytes);
            }
            collected.data.extend_from_slice(rest);
            collected
                .entries
                .push(PageEntry { end: Offset::at(end), data_end: collected.data.len() });
        }
        Ok(collected)
    }

    /// The one event that is larger than a page, read straight into the page's buffer.
    fn single(&mut self, state: &StreamState, position: u64) -> Result<Collected, ReadError> {
        let bounds = (state, position);
        let event = located(&mut self.statements.event_after, bounds)?;
        let Some(event) = event else {
            let reason = format!("no event of stream {} is behind {position}", state.stream.0);
            return Err(StoreError::Failed { reason }.into());
        };
        let start = event.end.saturating_sub(event.bytes);
        check_inside(state.content_type.kind(), position, start, event.end)?;
        let data = self.rest(&event, position.saturating_sub(start))?;
        let entries = vec![PageEntry { end: Offset::at(event.end), data_end: data.len() }];
        Ok(Collected { data, entries })
    }

    /// The event that ends at `end`.
    pub(super) fn event_by_end(
        &mut self,
        state: &StreamState,
        end: u64,
    ) -> Result<Option<Located>, StoreError> {
        located(&mut self.statements.event_by_end, (state, end))
    }

    /// The payload of an event.
    pub(super) fn whole(&mut self, event: &Located) -> Result<Bytes, StoreError> {
        self.rest(event, 0).map(Bytes::from)
    }

    fn rest(&mut self, event: &Located, skipped: u64) -> Result<Vec<u8>, StoreError> {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let mut data = vec![0; size(event.bytes.saturating_sub(skipped))];
        let blob = self.connection.blob_open("main", "events", "payload", event.seq, true);
        let blob = blob.map_err(failed)?;
        blob.read_at_exact(&mut data, size(skipped)).map_err(failed)?;
        Ok(data)
    }
}

fn located(
    statement: &mut Statement<'_>,
    (state, position): (&StreamState, u64),
) -> Result<Option<Located>, StoreError> {
    let bounds = params![sql(state.stream.0), sql(position)];
    let mut rows = statement.query(bounds).map_err(failed)?;
    let Some(row) = rows.next().map_err(failed)? else {
        return Ok(None);
    };
    Ok(Some(Located {
        seq: row.get(0).map_err(failed)?,
        end: count(row.get(1).map_err(failed)?),
        bytes: count(row.get(2).map_err(failed)?),
    }))
}
