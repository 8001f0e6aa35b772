//! The tables, and the way from an older version of them to this one.

use std::path::Path;

use rusqlite::{Connection, Error, TransactionBehavior};

use crate::config::SqliteConfig;
use crate::open::OpenError;

/// Marks the file as squall's: the letters `sqll`.
const APPLICATION_ID: i64 = 0x7371_6c6c;

/// The newest schema that is understood, and the one that is written.
pub const SCHEMA_VERSION: i64 = 1;

/// Step `n` leads from version `n` to `n + 1`. Steps are never changed once released.
const MIGRATIONS: [&str; 1] = [VERSION_1];

/// Events lie in the order in which they were appended, whatever their stream, so that a
/// batch over many streams fills few pages. `positions` addresses them by the position
/// just behind them: the event that holds position `x`, or the next one, is the first
/// whose `end_position` is greater than `x`. It is brought up to date in portions, since
/// one entry for each of many streams would touch a page for each: an event whose `seq`
/// is above `indexed.up_to` is not in it yet, every other one is.
///
/// A stream that ends loses its row at once and its name is free. Its events, like those
/// in front of a trimmed stream's `earliest`, are rows that nothing reads any more;
/// `purges` says up to where they are to go. Ids are never used again (`AUTOINCREMENT`).
///
/// Instants are milliseconds since 1970 in UTC, positions count bytes.
const VERSION_1: &str = "
CREATE TABLE streams (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    content_type TEXT NOT NULL,
    tail INTEGER NOT NULL CHECK (tail >= earliest),
    earliest INTEGER NOT NULL CHECK (earliest >= 0),
    events INTEGER NOT NULL CHECK (events >= 0),
    closed INTEGER NOT NULL CHECK (closed IN (0, 1)),
    closed_by TEXT,
    closed_epoch INTEGER,
    closed_seq INTEGER,
    stream_seq TEXT,
    producers INTEGER NOT NULL,
    ttl_seconds INTEGER,
    expires_at INTEGER,
    deadline INTEGER,
    created_at INTEGER NOT NULL,
    appended_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX streams_by_deadline ON streams (deadline) WHERE deadline IS NOT NULL;

CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    stream_id INTEGER NOT NULL,
    end_position INTEGER NOT NULL,
    appended_at INTEGER NOT NULL,
    payload BLOB NOT NULL
) STRICT;

CREATE TABLE positions (
    stream_id INTEGER NOT NULL,
    end_position INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (stream_id, end_position)
) STRICT, WITHOUT ROWID;

CREATE TABLE indexed (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    up_to INTEGER NOT NULL
) STRICT;
INSERT INTO indexed (id, up_to) VALUES (1, 0);

CREATE TABLE producers (
    stream_id INTEGER NOT NULL,
    producer_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (stream_id, producer_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE purges (
    stream_id INTEGER PRIMARY KEY,
    up_to INTEGER NOT NULL
) STRICT;

CREATE TABLE probe (
    id INTEGER PRIMARY KEY,
    filler BLOB NOT NULL
) STRICT;

CREATE VIEW readable_events AS
SELECT streams.name AS stream,
       events.end_position AS end_position,
       datetime(events.appended_at / 1000, 'unixepoch') AS appended_at,
       CAST(events.payload AS TEXT) AS payload
FROM events JOIN streams ON streams.id = events.stream_id
WHERE events.end_position > streams.earliest
ORDER BY events.seq;
";

/// Makes the tables if the database is new, and migrates an older one, each in one
/// transaction. Leaves the database in WAL mode.
pub(super) fn bring_up_to_date(
    connection: &mut Connection,
    path: &Path,
    config: &SqliteConfig,
) -> Result<(), OpenError> {
    let application_id: i64 = pragma(connection, "application_id")?;
    let found: i64 = pragma(connection, "user_version")?;
    let is_new = application_id == 0 && found == 0 && is_empty(connection)?;
    if !is_new && application_id != APPLICATION_ID {
        return Err(OpenError::NotOurs { path: path.to_owned(), application_id });
    }
    if found > SCHEMA_VERSION {
        return Err(OpenError::NewerSchema { found, supported: SCHEMA_VERSION });
    }
    if is_new {
        // Both are fixed by the first page that is written.
        connection.pragma_update(None, "page_size", config.page_size)?;
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if !mode.eq_ignore_ascii_case("wal") {
        return Err(OpenError::Sqlite(Error::InvalidQuery));
    }
    migrate(connection, found)?;
    Ok(())
}

fn migrate(connection: &mut Connection, found: i64) -> Result<(), Error> {
    let done = usize::try_from(found).unwrap_or_default();
    let Some(steps) = MIGRATIONS.get(done..).filter(|steps| !steps.is_empty()) else {
        return Ok(());
    };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for step in steps {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()
}

fn is_empty(connection: &Connection) -> Result<bool, Error> {
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0)
}

fn pragma(connection: &Connection, name: &str) -> Result<i64, Error> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}
