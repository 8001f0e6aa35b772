//! One reader's connection with its statements, and the look-ups that need a single row.

use rusqlite::{Connection, Error, ErrorCode, Statement};
use squall_stream::machine::StreamState;
use squall_stream::observer::UnreadyReason;
use squall_stream::request::{Newest, ReadTarget, StoreError, StreamError, StreamInfo};
use squall_stream::{StreamName, UnixMillis};

use crate::newest::{Known, LoadTicket};
use crate::rows::{STREAM_COLUMNS, sql, stream_name, stream_state};
use crate::shared::Shared;

/// A reader's connection. Statements live as long as the thread.
pub(crate) struct Session<'c> {
    pub(super) connection: &'c Connection,
    pub(super) shared: &'c Shared,
    pub(super) statements: Statements<'c>,
}

pub(super) struct Statements<'c> {
    begin: Statement<'c>,
    end: Statement<'c>,
    rollback: Statement<'c>,
    stream_by_name: Statement<'c>,
    stream_by_id: Statement<'c>,
    pub(super) streams_after: Statement<'c>,
    pub(super) indexed: Statement<'c>,
    pub(super) event_after: Statement<'c>,
    pub(super) recent_event_after: Statement<'c>,
    pub(super) events_between: Statement<'c>,
    pub(super) recent_events_between: Statement<'c>,
}

impl<'c> Session<'c> {
    pub(super) fn new(connection: &'c Connection, shared: &'c Shared) -> Result<Self, Error> {
        let columns = STREAM_COLUMNS;
        let prepare = |text: &str| connection.prepare(text);
        let statements = Statements {
            begin: prepare("BEGIN")?,
            end: prepare("COMMIT")?,
            rollback: prepare("ROLLBACK")?,
            stream_by_name: prepare(&format!("SELECT {columns} FROM streams WHERE name = ?1"))?,
            stream_by_id: prepare(&format!("SELECT {columns} FROM streams WHERE id = ?1"))?,
            streams_after: prepare(&format!(
                "SELECT {columns} FROM streams WHERE name >= ?1 ORDER BY name"
            ))?,
            indexed: prepare(
                "SELECT (SELECT max(end_position) FROM positions WHERE stream_id = ?1), up_to \
                 FROM indexed",
            )?,
            event_after: prepare(
                "SELECT events.seq, positions.end_position, length(events.payload) \
                 FROM positions CROSS JOIN events ON events.seq = positions.seq \
                 WHERE positions.stream_id = ?1 AND positions.end_position > ?2 \
                 ORDER BY positions.end_position LIMIT 1",
            )?,
            recent_event_after: prepare(
                "SELECT seq, end_position, length(payload) FROM events \
                 WHERE seq > ?3 AND stream_id = ?1 AND end_position > ?2 ORDER BY seq LIMIT 1",
            )?,
            events_between: prepare(
                "SELECT positions.end_position, events.payload \
                 FROM positions CROSS JOIN events ON events.seq = positions.seq \
                 WHERE positions.stream_id = ?1 AND positions.end_position > ?2 \
                 AND positions.end_position <= ?3 ORDER BY positions.end_position",
            )?,
            recent_events_between: prepare(
                "SELECT end_position, payload FROM events \
                 WHERE seq > ?4 AND stream_id = ?1 AND end_position > ?2 \
                 AND end_position <= ?3 ORDER BY seq",
            )?,
        };
        Ok(Self { connection, shared, statements })
    }

    /// Runs `read` in one snapshot.
    pub(super) fn in_snapshot<T, E: From<StoreError>>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.leave_snapshot();
        let begun = self.statements.begin.raw_execute();
        let answer = match begun {
            Ok(_) => read(self),
            Err(error) => Err(failed(error).into()),
        };
        // An interrupted statement may have ended the transaction already.
        if answer.is_ok() && !self.connection.is_autocommit() {
            self.statements.end.raw_execute().map_err(failed)?;
        }
        self.leave_snapshot();
        answer
    }

    /// Leaves the snapshot that a read may have left open, so that the next one does not
    /// see the past, nor the log wait for it.
    pub(super) fn leave_snapshot(&mut self) {
        if self.connection.is_autocommit() {
            return;
        }
        if let Err(error) = self.statements.rollback.raw_execute() {
            tracing::warn!(%error, "a snapshot was not left");
        }
    }

    /// The stream that is meant, fresh from the snapshot and the renewals in memory;
    /// none if it has ended by itself.
    pub(super) fn stream(
        &mut self,
        target: &ReadTarget,
        now: UnixMillis,
    ) -> Result<Option<(StreamState, StreamName)>, StoreError> {
        let statement = match target {
            ReadTarget::Name(_) => &mut self.statements.stream_by_name,
            ReadTarget::Id(_) => &mut self.statements.stream_by_id,
        };
        match target {
            ReadTarget::Name(name) => statement.raw_bind_parameter(1, name.as_str()),
            ReadTarget::Id(id) => statement.raw_bind_parameter(1, sql(id.0)),
        }
        .map_err(failed)?;
        let mut rows = statement.raw_query();
        let Some(row) = rows.next().map_err(failed)? else {
            return Ok(None);
        };
        let mut state = stream_state(row).map_err(failed)?;
        let name = stream_name(row).map_err(failed)?;
        self.shared.usage.refresh(&mut state);
        let over = self.shared.usage.is_over(&state, now);
        Ok((!over).then_some((state, name)))
    }

    /// Shows a stream.
    pub(crate) fn describe(&mut self, name: StreamName) -> Result<StreamInfo, StreamError> {
        let now = self.shared.now();
        let found = self.stream(&ReadTarget::Name(name), now)?;
        let (state, name) = found.ok_or(StreamError::NotFound)?;
        Ok(state.info(name))
    }

    /// Reads the newest event of a stream and puts it into the cache.
    pub(crate) fn newest(
        &mut self,
        name: &StreamName,
        ticket: LoadTicket,
    ) -> Result<Option<Newest>, StoreError> {
        let loaded = self.in_snapshot(|session| session.load_newest(name));
        match loaded {
            Ok(known) => {
                let newest = known.newest.clone();
                self.shared.newest.fill(name, ticket, known);
                Ok(newest)
            }
            Err(error) => {
                self.shared.newest.abandon(name, ticket);
                Err(error)
            }
        }
    }

    fn load_newest(&mut self, name: &StreamName) -> Result<Known, StoreError> {
        let now = self.shared.now();
        let Some((state, _)) = self.stream(&ReadTarget::Name(name.clone()), now)? else {
            return Ok(Known::default());
        };
        self.shared.usage.touch(&state, now);
        let event = self.newest_event(&state)?;
        let payload = match event {
            Some(event) => Some(self.whole(&event)?),
            None => None,
        };
        let newest =
            payload.map(|payload| Newest { content_type: state.content_type.clone(), payload });
        Ok(Known::new(&state, newest))
    }
}

/// What went wrong at a read, for its caller alone.
pub(super) fn failed(error: Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy) => StoreError::Unready(UnreadyReason::LockedOutside),
        Some(ErrorCode::OperationInterrupted) => {
            StoreError::Failed { reason: "the read took too long and was interrupted".to_owned() }
        }
        _ => StoreError::Failed { reason: error.to_string() },
    }
}
