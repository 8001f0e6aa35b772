//! Between rows of `streams` and the domain's state.

use rusqlite::types::Type;
use rusqlite::{Error, Row, Statement};
use squall_stream::machine::{Closing, StreamState};
use squall_stream::producer::{ProducerClaim, ProducerId, ProducerPosition};
use squall_stream::store::StreamId;
use squall_stream::{ContentType, Expiry, StreamName, UnixMillis};

/// The columns that [`stream_state`] reads, in its order, and the name behind them.
pub(crate) const STREAM_COLUMNS: &str = "id, content_type, tail, earliest, events, closed, \
     closed_by, closed_epoch, closed_seq, stream_seq, producers, ttl_seconds, expires_at, \
     created_at, appended_at, used_at, name";

const NAME_COLUMN: usize = 16;

/// A number as SQL stores it. What is beyond its range counts as its largest.
pub(crate) fn sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number as the domain counts it. The schema keeps negative ones out.
pub(crate) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

/// Reads the state of a stream from a row of [`STREAM_COLUMNS`].
pub(crate) fn stream_state(row: &Row<'_>) -> Result<StreamState, Error> {
    let number = |column: usize| row.get::<_, i64>(column).map(count);
    let content_type = row.get_ref(1)?.as_str()?;
    let producers = number(10)?;
    Ok(StreamState {
        stream: StreamId(number(0)?),
        content_type: ContentType::parse(content_type).map_err(|error| broken(1, error))?,
        tail: number(2)?,
        earliest: number(3)?,
        events: number(4)?,
        closing: closing(row)?,
        stream_seq: row.get(9)?,
        producers: u32::try_from(producers).unwrap_or(u32::MAX),
        expiry: expiry(row)?,
        created_at: UnixMillis(number(13)?),
        appended_at: UnixMillis(number(14)?),
        used_at: UnixMillis(number(15)?),
    })
}

/// Reads the name of a stream from a row of [`STREAM_COLUMNS`].
pub(crate) fn stream_name(row: &Row<'_>) -> Result<StreamName, Error> {
    let name = row.get_ref(NAME_COLUMN)?.as_str()?;
    StreamName::parse(name).map_err(|error| broken(NAME_COLUMN, error))
}

fn closing(row: &Row<'_>) -> Result<Option<Closing>, Error> {
    if !row.get::<_, bool>(5)? {
        return Ok(None);
    }
    let Some(id) = row.get_ref(6)?.as_str_or_null()? else {
        return Ok(Some(Closing { by: None }));
    };
    let id = ProducerId::parse(id).map_err(|error| broken(6, error))?;
    let position = ProducerPosition { epoch: count(row.get(7)?), seq: count(row.get(8)?) };
    Ok(Some(Closing { by: Some(ProducerClaim { id, position }) }))
}

fn expiry(row: &Row<'_>) -> Result<Expiry, Error> {
    if let Some(seconds) = row.get::<_, Option<i64>>(11)? {
        return Ok(Expiry::Ttl(count(seconds)));
    }
    let instant: Option<i64> = row.get(12)?;
    Ok(instant.map_or(Expiry::Never, |at| Expiry::At(UnixMillis(count(at)))))
}

fn broken(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

/// When the stream of this state ends if nothing renews it, for the column `deadline`.
pub(crate) fn deadline(state: &StreamState) -> Option<i64> {
    let deadline = state.expiry.deadline(state.used_at);
    deadline.map(|at| sql(at.0))
}

/// Makes a stream's row; the id is given by the database.
pub(crate) const INSERT_STREAM: &str = "INSERT INTO streams (name, content_type, tail, earliest, \
     events, closed, producers, ttl_seconds, expires_at, created_at, appended_at, used_at, \
     deadline) VALUES (?1, ?2, 0, 0, 0, 0, 0, ?3, ?4, ?5, ?6, ?7, ?8)";

/// Binds a new stream to [`INSERT_STREAM`].
pub(crate) fn bind_insert(
    statement: &mut Statement<'_>,
    name: &StreamName,
    state: &StreamState,
) -> Result<(), Error> {
    let (ttl, at) = match state.expiry {
        Expiry::Never => (None, None),
        Expiry::Ttl(seconds) => (Some(sql(seconds)), None),
        Expiry::At(instant) => (None, Some(sql(instant.0))),
    };
    statement.raw_bind_parameter(1, name.as_str())?;
    statement.raw_bind_parameter(2, state.content_type.as_str())?;
    statement.raw_bind_parameter(3, ttl)?;
    statement.raw_bind_parameter(4, at)?;
    statement.raw_bind_parameter(5, sql(state.created_at.0))?;
    statement.raw_bind_parameter(6, sql(state.appended_at.0))?;
    statement.raw_bind_parameter(7, sql(state.used_at.0))?;
    statement.raw_bind_parameter(8, deadline(state))
}

/// Brings a stream's row up to date, whatever changed.
pub(crate) const UPDATE_STREAM: &str = "UPDATE streams SET tail = ?2, earliest = ?3, events = ?4, \
     closed = ?5, closed_by = ?6, closed_epoch = ?7, closed_seq = ?8, stream_seq = ?9, \
     producers = ?10, appended_at = ?11, used_at = ?12, deadline = ?13 WHERE id = ?1";

/// Binds a stream's state to [`UPDATE_STREAM`].
pub(crate) fn bind_update(statement: &mut Statement<'_>, state: &StreamState) -> Result<(), Error> {
    let by = state.closing.as_ref().and_then(|closing| closing.by.as_ref());
    statement.raw_bind_parameter(1, sql(state.stream.0))?;
    statement.raw_bind_parameter(2, sql(state.tail))?;
    statement.raw_bind_parameter(3, sql(state.earliest))?;
    statement.raw_bind_parameter(4, sql(state.events))?;
    statement.raw_bind_parameter(5, state.closing.is_some())?;
    statement.raw_bind_parameter(6, by.map(|claim| claim.id.as_str()))?;
    statement.raw_bind_parameter(7, by.map(|claim| sql(claim.position.epoch)))?;
    statement.raw_bind_parameter(8, by.map(|claim| sql(claim.position.seq)))?;
    statement.raw_bind_parameter(9, state.stream_seq.as_deref())?;
    statement.raw_bind_parameter(10, state.producers)?;
    statement.raw_bind_parameter(11, sql(state.appended_at.0))?;
    statement.raw_bind_parameter(12, sql(state.used_at.0))?;
    statement.raw_bind_parameter(13, deadline(state))
}

/// Brings a stream's row up to date where only events were added: the usual case, and
/// one that leaves the indexes alone.
pub(crate) const UPDATE_TAIL: &str =
    "UPDATE streams SET tail = ?2, events = ?3, appended_at = ?4, used_at = ?5 WHERE id = ?1";

/// Binds a stream's state to [`UPDATE_TAIL`].
pub(crate) fn bind_tail(statement: &mut Statement<'_>, state: &StreamState) -> Result<(), Error> {
    statement.raw_bind_parameter(1, sql(state.stream.0))?;
    statement.raw_bind_parameter(2, sql(state.tail))?;
    statement.raw_bind_parameter(3, sql(state.events))?;
    statement.raw_bind_parameter(4, sql(state.appended_at.0))?;
    statement.raw_bind_parameter(5, sql(state.used_at.0))
}
