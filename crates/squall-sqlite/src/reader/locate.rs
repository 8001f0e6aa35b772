//! Finds events by their position: in the index, or among the few that it lacks yet.

use rusqlite::{Row, Rows, params};
use squall_stream::machine::StreamState;
use squall_stream::request::StoreError;

use crate::reader::Session;
use crate::reader::session::failed;
use crate::rows::{count, sql};

/// Where one event is, without its payload.
pub(super) struct Located {
    /// The row in `events`.
    pub(super) seq: i64,
    /// The position just behind the event.
    pub(super) end: u64,
    /// Bytes of the payload.
    pub(super) bytes: u64,
}

/// The part of a stream that the index knows, in the snapshot at hand.
#[derive(Clone, Copy)]
pub(super) struct Indexed {
    /// The end of the stream's last event in the index; 0 if it knows none.
    pub(super) end: u64,
    /// The last row of all that is indexed.
    pub(super) up_to: i64,
}

impl Session<'_> {
    /// How far the index goes.
    pub(super) fn indexed(&mut self, state: &StreamState) -> Result<Indexed, StoreError> {
        let read = |row: &Row<'_>| Ok((row.get::<_, Option<i64>>(0)?, row.get(1)?));
        let indexed = self.statements.indexed.query_one([sql(state.stream.0)], read);
        let (end, up_to) = indexed.map_err(failed)?;
        Ok(Indexed { end: end.map_or(0, count), up_to })
    }

    /// The event that holds `position`, or the next one.
    pub(super) fn event_after(
        &mut self,
        state: &StreamState,
        position: u64,
        indexed: Indexed,
    ) -> Result<Option<Located>, StoreError> {
        let (stream, after) = (sql(state.stream.0), sql(position));
        let rows = if position < indexed.end {
            self.statements.event_after.query(params![stream, after])
        } else {
            self.statements.recent_event_after.query(params![stream, after, indexed.up_to])
        };
        located(rows.map_err(failed)?)
    }

    /// The newest event; none if there is none.
    pub(super) fn newest_event(
        &mut self,
        state: &StreamState,
    ) -> Result<Option<Located>, StoreError> {
        if state.events == 0 {
            return Ok(None);
        }
        let indexed = self.indexed(state)?;
        self.event_after(state, state.tail.saturating_sub(1), indexed)
    }
}

fn located(mut rows: Rows<'_>) -> Result<Option<Located>, StoreError> {
    let Some(row) = rows.next().map_err(failed)? else {
        return Ok(None);
    };
    Ok(Some(Located {
        seq: row.get(0).map_err(failed)?,
        end: count(row.get(1).map_err(failed)?),
        bytes: count(row.get(2).map_err(failed)?),
    }))
}
