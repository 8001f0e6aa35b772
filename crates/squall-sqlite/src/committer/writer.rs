//! The write connection: its statements, and the transaction that is open on it.

use std::time::{Duration, Instant};

use rusqlite::{Connection, Error, Rows, Statement, params};
use squall_stream::event::Event;
use squall_stream::machine::StreamState;
use squall_stream::producer::{ProducerId, ProducerPosition, ProducerState};
use squall_stream::store::StreamId;
use squall_stream::{StreamName, UnixMillis};

use crate::committer::events::Events;
use crate::queue::Queue;
use crate::rows::{
    INSERT_STREAM, STREAM_COLUMNS, UPDATE_STREAM, UPDATE_TAIL, bind_insert, bind_tail, bind_update,
    count, sql, stream_name, stream_state,
};
use crate::trouble::Trouble;

/// Longest sleep between two tries for a lock that another process holds.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// The write connection. Statements are prepared once and live as long as the thread.
pub(super) struct Writer<'c> {
    pub(super) connection: &'c Connection,
    pub(super) events: Events<'c>,
    statements: Statements<'c>,
    in_transaction: bool,
    busy_timeout: Duration,
    queue: &'c Queue,
}

struct Statements<'c> {
    begin: Statement<'c>,
    commit: Statement<'c>,
    rollback: Statement<'c>,
    stream_by_name: Statement<'c>,
    stream_by_id: Statement<'c>,
    insert_stream: Statement<'c>,
    update_stream: Statement<'c>,
    update_tail: Statement<'c>,
    delete_stream: Statement<'c>,
    mark_purge: Statement<'c>,
    producer: Statement<'c>,
    upsert_producer: Statement<'c>,
    idle_producers: Statement<'c>,
    forget_idle_producers: Statement<'c>,
}

impl<'c> Writer<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        queue: &'c Queue,
        busy_timeout: Duration,
    ) -> Result<Self, Error> {
        let columns = STREAM_COLUMNS;
        let prepare = |text: &str| connection.prepare(text);
        let statements = Statements {
            begin: prepare("BEGIN IMMEDIATE")?,
            commit: prepare("COMMIT")?,
            rollback: prepare("ROLLBACK")?,
            stream_by_name: prepare(&format!("SELECT {columns} FROM streams WHERE name = ?1"))?,
            stream_by_id: prepare(&format!("SELECT {columns} FROM streams WHERE id = ?1"))?,
            insert_stream: prepare(INSERT_STREAM)?,
            update_stream: prepare(UPDATE_STREAM)?,
            update_tail: prepare(UPDATE_TAIL)?,
            delete_stream: prepare("DELETE FROM streams WHERE id = ?1")?,
            mark_purge: prepare(
                "INSERT INTO purges (stream_id, up_to) VALUES (?1, ?2) \
                 ON CONFLICT (stream_id) DO UPDATE SET up_to = max(up_to, excluded.up_to)",
            )?,
            producer: prepare(
                "SELECT epoch, seq, used_at FROM producers \
                 WHERE stream_id = ?1 AND producer_id = ?2",
            )?,
            upsert_producer: prepare(
                "INSERT OR REPLACE INTO producers (stream_id, producer_id, epoch, seq, used_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?,
            idle_producers: prepare(
                "SELECT count(*) FILTER (WHERE used_at <= ?2), min(used_at) \
                 FROM producers WHERE stream_id = ?1",
            )?,
            forget_idle_producers: prepare(
                "DELETE FROM producers WHERE stream_id = ?1 AND used_at <= ?2",
            )?,
        };
        Ok(Self {
            connection,
            events: Events::new(connection)?,
            statements,
            in_transaction: false,
            busy_timeout,
            queue,
        })
    }

    /// Opens a transaction if there is none. Waits for a lock that another process holds,
    /// but neither for ever nor past the closing of the queue.
    pub(super) fn begin(&mut self) -> Result<(), Trouble> {
        if self.in_transaction {
            return Ok(());
        }
        let until = Instant::now() + self.busy_timeout;
        loop {
            match self.try_begin() {
                Err(Trouble::Busy) if Instant::now() < until => {
                    if self.queue.pause(BUSY_PAUSE) {
                        return Err(Trouble::Busy);
                    }
                }
                begun => return begun,
            }
        }
    }

    /// Opens a transaction if no other process holds the lock.
    pub(super) fn try_begin(&mut self) -> Result<(), Trouble> {
        self.statements.begin.raw_execute()?;
        self.in_transaction = true;
        Ok(())
    }

    /// Makes what was written durable. Whether something was written at all is returned.
    pub(super) fn commit(&mut self) -> Result<bool, Trouble> {
        if !self.in_transaction {
            return Ok(false);
        }
        let committed = self.statements.commit.raw_execute();
        committed.map_err(|error| Trouble::from(error).at_commit())?;
        self.events.committed();
        self.in_transaction = false;
        Ok(true)
    }

    /// Undoes what was written. SQLite may have done so by itself.
    pub(super) fn roll_back(&mut self) -> Result<(), Trouble> {
        if self.in_transaction && !self.connection.is_autocommit() {
            let undone = self.statements.rollback.raw_execute();
            undone.map_err(|error| Trouble::from(error).at_commit())?;
        }
        self.events.rolled_back();
        self.in_transaction = false;
        Ok(())
    }

    pub(super) fn stream_by_name(&mut self, name: &str) -> Result<Option<StreamState>, Error> {
        let statement = &mut self.statements.stream_by_name;
        statement.raw_bind_parameter(1, name)?;
        first(statement.raw_query(), stream_state)
    }

    pub(super) fn stream_by_id(
        &mut self,
        id: StreamId,
    ) -> Result<Option<(StreamName, StreamState)>, Error> {
        let statement = &mut self.statements.stream_by_id;
        statement.raw_bind_parameter(1, sql(id.0))?;
        first(statement.raw_query(), |row| Ok((stream_name(row)?, stream_state(row)?)))
    }

    /// Makes a stream's row and returns its id.
    pub(super) fn insert_stream(
        &mut self,
        name: &StreamName,
        state: &StreamState,
    ) -> Result<StreamId, Trouble> {
        self.begin()?;
        let statement = &mut self.statements.insert_stream;
        bind_insert(statement, name, state)?;
        statement.raw_execute()?;
        Ok(StreamId(count(self.connection.last_insert_rowid())))
    }

    /// Writes down a stream's state; only its tail and times if `tail_only`.
    pub(super) fn update_stream(
        &mut self,
        state: &StreamState,
        tail_only: bool,
    ) -> Result<(), Trouble> {
        self.begin()?;
        if tail_only {
            let statement = &mut self.statements.update_tail;
            bind_tail(statement, state)?;
            statement.raw_execute()?;
        } else {
            let statement = &mut self.statements.update_stream;
            bind_update(statement, state)?;
            statement.raw_execute()?;
        }
        Ok(())
    }

    /// Ends a stream: its row goes, its events are marked to go.
    pub(super) fn delete_stream(&mut self, id: StreamId) -> Result<(), Trouble> {
        self.begin()?;
        self.statements.delete_stream.execute([sql(id.0)])?;
        self.mark_purge(id, u64::MAX)
    }

    /// Marks the events up to the position `up_to` to go.
    pub(super) fn mark_purge(&mut self, id: StreamId, up_to: u64) -> Result<(), Trouble> {
        self.begin()?;
        let bounds = params![sql(id.0), sql(up_to)];
        self.statements.mark_purge.execute(bounds)?;
        Ok(())
    }

    /// Writes an event behind all others.
    pub(super) fn insert_event(
        &mut self,
        stream: StreamId,
        event: &Event,
        appended_at: UnixMillis,
    ) -> Result<(), Trouble> {
        self.begin()?;
        self.events.insert(stream, event, appended_at)
    }

    /// Brings the index up to date with every event.
    pub(super) fn index_events(&mut self) -> Result<(), Trouble> {
        if self.events.has_unindexed() {
            self.begin()?;
            self.events.index()?;
        }
        Ok(())
    }

    pub(super) fn producer(
        &mut self,
        stream: StreamId,
        id: &ProducerId,
    ) -> Result<Option<ProducerState>, Error> {
        let statement = &mut self.statements.producer;
        statement.raw_bind_parameter(1, sql(stream.0))?;
        statement.raw_bind_parameter(2, id.as_str())?;
        first(statement.raw_query(), |row| {
            let last = ProducerPosition { epoch: count(row.get(0)?), seq: count(row.get(1)?) };
            let used_at = UnixMillis(count(row.get(2)?));
            Ok(ProducerState { last, used_at })
        })
    }

    pub(super) fn upsert_producer(
        &mut self,
        stream: StreamId,
        id: &ProducerId,
        state: &ProducerState,
    ) -> Result<(), Trouble> {
        self.begin()?;
        let statement = &mut self.statements.upsert_producer;
        statement.raw_bind_parameter(1, sql(stream.0))?;
        statement.raw_bind_parameter(2, id.as_str())?;
        statement.raw_bind_parameter(3, sql(state.last.epoch))?;
        statement.raw_bind_parameter(4, sql(state.last.seq))?;
        statement.raw_bind_parameter(5, sql(state.used_at.0))?;
        statement.raw_execute()?;
        Ok(())
    }

    /// How many producers were not used after `until`, and when the oldest was used.
    pub(super) fn idle_producers(
        &mut self,
        stream: StreamId,
        until: UnixMillis,
    ) -> Result<(u32, UnixMillis), Error> {
        let bounds = params![sql(stream.0), sql(until.0)];
        let found = self.statements.idle_producers.query_one(bounds, |row| {
            let oldest: Option<i64> = row.get(1)?;
            Ok((row.get(0)?, UnixMillis(oldest.map_or(u64::MAX, count))))
        })?;
        Ok(found)
    }

    /// Forgets the producers that were not used after `until`.
    pub(super) fn forget_idle_producers(
        &mut self,
        stream: StreamId,
        until: UnixMillis,
    ) -> Result<(), Trouble> {
        self.begin()?;
        let bounds = params![sql(stream.0), sql(until.0)];
        self.statements.forget_idle_producers.execute(bounds)?;
        Ok(())
    }
}

/// The first row of a query, as `read` sees it.
fn first<T>(
    mut rows: Rows<'_>,
    read: impl FnOnce(&rusqlite::Row<'_>) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    rows.next()?.map(read).transpose()
}
