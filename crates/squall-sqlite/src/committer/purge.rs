//! Deletes, in small steps, rows that nothing reads any more, and gives the space back.
//!
//! Limit: a step deletes at most [`STEP_ROWS_MAX`] rows or [`STEP_BYTES_MAX`] bytes of
//! payloads, or one larger event. Steps take a fifth of the committer's time at most.

use std::time::{Duration, Instant};

use rusqlite::{OptionalExtension, params};
use squall_stream::observer::UnreadyReason;

use crate::committer::{Committer, Fatal};
use crate::rows::{count, sql};
use crate::trouble::Trouble;

const STEP_ROWS_MAX: u64 = 1_000;
const STEP_BYTES_MAX: u64 = 1024 * 1024;
/// Pages that one step gives back to the file system.
const STEP_PAGES_MAX: u64 = 256;
/// Free pages that are kept for the next events.
const FREE_PAGES_KEPT: u64 = 256;
/// After a step the committer is left alone for this many times as long as it took.
const REST_FACTOR: u32 = 4;

/// What there is to delete and to give back.
pub(super) struct Purges {
    rows: bool,
    pages: bool,
    next_at: Instant,
}

impl Purges {
    /// At an opening nothing is known, so it is looked for once.
    pub(super) fn new(now: Instant) -> Self {
        Self { rows: true, pages: true, next_at: now }
    }

    /// Notes that rows were marked to go.
    pub(super) fn note(&mut self) {
        (self.rows, self.pages) = (true, true);
    }

    /// When the next step is due, if there is one.
    pub(super) fn due_at(&self) -> Option<Instant> {
        (self.rows || self.pages).then_some(self.next_at)
    }
}

impl Committer<'_> {
    /// Takes the next step if it is due and there is room for it.
    pub(super) fn purge(&mut self) -> Result<(), Fatal> {
        let started = Instant::now();
        let due = self.purges.due_at().is_some_and(|at| at <= started);
        let possible = matches!(self.unready, None | Some(UnreadyReason::DiskFull));
        if !due {
            return Ok(());
        }
        let step = match possible {
            true if self.purges.rows => self.transact(|committer| committer.purge_rows()),
            true => self.transact(|committer| committer.vacuum()),
            false => Ok(()),
        };
        if step.is_err() {
            // What the step took for done was undone.
            self.purges.note();
        }
        let taken = started.elapsed();
        let rest =
            if possible && step.is_ok() { taken.saturating_mul(REST_FACTOR) } else { self.tick };
        self.purges.next_at = Instant::now() + rest.max(Duration::from_micros(100));
        step.or_else(|trouble| self.settle(trouble))
    }

    fn purge_rows(&mut self) -> Result<usize, Trouble> {
        let mut rows = 0;
        while rows < STEP_ROWS_MAX {
            let Some((stream, up_to)) = self.next_purge()? else {
                self.purges.rows = false;
                break;
            };
            self.writer.begin()?;
            self.writer.index_events()?;
            let (events, more) = self.purge_events(stream, up_to, STEP_ROWS_MAX - rows)?;
            rows += events;
            if more {
                break;
            }
            let producers = match up_to {
                i64::MAX => self.purge_producers(stream)?,
                _ => 0,
            };
            rows += producers + 1;
            if producers == 0 {
                let connection = self.writer.connection;
                let mut done =
                    connection.prepare_cached("DELETE FROM purges WHERE stream_id = ?1")?;
                done.execute([stream])?;
            }
        }
        Ok(0)
    }

    fn next_purge(&self) -> Result<Option<(i64, i64)>, Trouble> {
        let connection = self.writer.connection;
        let mut next = connection.prepare_cached("SELECT stream_id, up_to FROM purges LIMIT 1")?;
        let row = next.query_one([], |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(row.optional()?)
    }

    /// Deletes the oldest events of a stream. Returns how many, and whether there are more.
    fn purge_events(&self, stream: i64, up_to: i64, rows_max: u64) -> Result<(u64, bool), Trouble> {
        let connection = self.writer.connection;
        let mut first = connection.prepare_cached(
            "SELECT min(end_position) FROM positions \
             WHERE stream_id = ?1 AND end_position <= ?2",
        )?;
        let first: Option<i64> = first.query_one(params![stream, up_to], |row| row.get(0))?;
        let Some(first) = first else {
            return Ok((0, false));
        };
        let end = up_to.min(first.saturating_add(sql(STEP_BYTES_MAX)));
        let mut cut = connection.prepare_cached(
            "SELECT count(*), max(end_position) FROM (SELECT end_position FROM positions \
             WHERE stream_id = ?1 AND end_position >= ?2 AND end_position <= ?3 \
             ORDER BY end_position LIMIT ?4)",
        )?;
        let bounds = params![stream, first, end, sql(rows_max)];
        let (rows, cut): (i64, i64) =
            cut.query_one(bounds, |row| Ok((row.get(0)?, row.get(1)?)))?;
        for text in [
            "DELETE FROM events WHERE seq IN (SELECT seq FROM positions \
             WHERE stream_id = ?1 AND end_position <= ?2)",
            "DELETE FROM positions WHERE stream_id = ?1 AND end_position <= ?2",
        ] {
            connection.prepare_cached(text)?.execute(params![stream, cut])?;
        }
        Ok((count(rows), true))
    }

    fn purge_producers(&self, stream: i64) -> Result<u64, Trouble> {
        let connection = self.writer.connection;
        let mut delete = connection.prepare_cached(
            "DELETE FROM producers WHERE stream_id = ?1 AND producer_id IN \
             (SELECT producer_id FROM producers WHERE stream_id = ?1 LIMIT ?2)",
        )?;
        let rows = delete.execute(params![stream, sql(STEP_ROWS_MAX)])?;
        Ok(rows as u64)
    }

    /// Gives free pages at the end of the file back to the file system.
    fn vacuum(&mut self) -> Result<usize, Trouble> {
        let connection = self.writer.connection;
        let free: i64 = connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
        let spare = count(free).saturating_sub(FREE_PAGES_KEPT);
        if spare == 0 {
            self.purges.pages = false;
            return Ok(0);
        }
        self.writer.begin()?;
        let pages = spare.min(STEP_PAGES_MAX);
        let mut step = connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
        let mut rows = step.query([])?;
        while rows.next()?.is_some() {}
        Ok(0)
    }
}
