//! Writes events, and the index that finds them, in portions.
//!
//! An event goes behind all others; the index by stream and position follows when a
//! portion of them waits for it. With one entry at a time a batch over many streams would
//! touch a page of the index for each; a portion shares those pages.
//! Invariant: between transactions fewer than [`PORTION_ROWS`] events, of less than
//! [`PORTION_BYTES`], are not indexed: what a reader looks through at the tail.

use rusqlite::{Connection, Error, Statement, params};
use squall_stream::UnixMillis;
use squall_stream::event::Event;
use squall_stream::store::StreamId;

use crate::rows::{count, sql};
use crate::trouble::Trouble;

/// Events that may wait for the index. Larger portions write fewer pages, and make reads
/// at the tail and the commit that indexes slower.
const PORTION_ROWS: u64 = 1_024;
/// Bytes of payloads that may wait for the index.
const PORTION_BYTES: u64 = 512 * 1_024;

/// The tables `events`, `positions` and `indexed`.
pub(super) struct Events<'c> {
    insert: Statement<'c>,
    index: Statement<'c>,
    note_indexed: Statement<'c>,
    within: Statement<'c>,
    now: Progress,
    committed: Progress,
}

#[derive(Clone, Copy)]
struct Progress {
    /// The row that was written last. Never falls, so that no number below `up_to` is
    /// used again for a row that is not indexed.
    last_seq: i64,
    /// The last row that is indexed.
    up_to: i64,
    /// Rows behind it.
    unindexed: u64,
    unindexed_bytes: u64,
}

impl<'c> Events<'c> {
    pub(super) fn new(connection: &'c Connection) -> Result<Self, Error> {
        let up_to = connection.query_one("SELECT up_to FROM indexed", [], |row| row.get(0))?;
        let behind = "SELECT count(*), coalesce(sum(length(payload)), 0), \
                      coalesce(max(seq), ?1) FROM events WHERE seq > ?1";
        let progress = connection.query_one(behind, [up_to], |row| {
            Ok(Progress {
                last_seq: row.get(2)?,
                up_to,
                unindexed: count(row.get(0)?),
                unindexed_bytes: count(row.get(1)?),
            })
        })?;
        Ok(Self {
            insert: connection.prepare(
                "INSERT INTO events (seq, stream_id, end_position, appended_at, payload) \
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?,
            index: connection.prepare(
                "INSERT INTO positions (stream_id, end_position, seq) \
                 SELECT stream_id, end_position, seq FROM events WHERE seq > ?1 \
                 ORDER BY stream_id, end_position",
            )?,
            note_indexed: connection.prepare("UPDATE indexed SET up_to = ?1")?,
            within: connection.prepare(
                "SELECT count(*), max(end_position) FROM positions \
                 WHERE stream_id = ?1 AND end_position > ?2 AND end_position <= ?3",
            )?,
            now: progress,
            committed: progress,
        })
    }

    pub(super) fn has_unindexed(&self) -> bool {
        self.now.unindexed > 0
    }

    /// Whether the transaction at hand has to index before it commits.
    pub(super) fn is_portion_full(&self) -> bool {
        self.now.unindexed >= PORTION_ROWS || self.now.unindexed_bytes >= PORTION_BYTES
    }

    pub(super) fn insert(
        &mut self,
        stream: StreamId,
        event: &Event,
        appended_at: UnixMillis,
    ) -> Result<(), Trouble> {
        let end = event.end.position().unwrap_or(u64::MAX);
        self.now.last_seq += 1;
        self.insert.raw_bind_parameter(1, self.now.last_seq)?;
        self.insert.raw_bind_parameter(2, sql(stream.0))?;
        self.insert.raw_bind_parameter(3, sql(end))?;
        self.insert.raw_bind_parameter(4, sql(appended_at.0))?;
        self.insert.raw_bind_parameter(5, event.payload.as_ref())?;
        self.insert.raw_execute()?;
        self.now.unindexed += 1;
        self.now.unindexed_bytes += event.payload.len() as u64;
        Ok(())
    }

    /// Indexes every event.
    pub(super) fn index(&mut self) -> Result<(), Trouble> {
        let indexed = self.index.execute([self.now.up_to]);
        // Two events at one position: no retry would mend that.
        indexed.map_err(|error| Trouble::from(error).at_commit())?;
        self.note_indexed.execute([self.now.last_seq])?;
        self.now.up_to = self.now.last_seq;
        (self.now.unindexed, self.now.unindexed_bytes) = (0, 0);
        Ok(())
    }

    /// How many events end behind `from` and not behind `up_to`, and where the last of
    /// them ends; none if there are none. All events must be indexed.
    pub(super) fn within(
        &mut self,
        stream: StreamId,
        from: u64,
        up_to: u64,
    ) -> Result<Option<(u64, u64)>, Error> {
        let bounds = params![sql(stream.0), sql(from), sql(up_to)];
        self.within.query_one(bounds, |row| {
            let events = count(row.get(0)?);
            let last: Option<i64> = row.get(1)?;
            Ok(last.map(|last| (events, count(last))))
        })
    }

    pub(super) fn committed(&mut self) {
        self.committed = self.now;
    }

    pub(super) fn rolled_back(&mut self) {
        self.now = self.committed;
    }
}
