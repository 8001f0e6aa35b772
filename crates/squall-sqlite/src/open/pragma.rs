//! The settings that each connection is given. None is left to how SQLite was built.

use rusqlite::Connection;

use crate::config::{Durability, SqliteConfig};

/// Memory that a connection caches pages in, in KiB. Negative: SQLite's way to say KiB.
const WRITER_CACHE_KIB: i64 = -16_384;
const READER_CACHE_KIB: i64 = -4_096;

/// Settings of the writer. `wal_autocheckpoint` is off: the committer decides when.
pub(super) fn set_up_writer(
    connection: &Connection,
    config: &SqliteConfig,
) -> Result<(), rusqlite::Error> {
    set_up(connection, WRITER_CACHE_KIB)?;
    let synchronous = match config.durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "foreign_keys", false)?;
    if cfg!(target_os = "macos") {
        connection.pragma_update(None, "fullfsync", true)?;
        connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    }
    if let Some(pages) = config.max_page_count {
        connection.pragma_update(None, "max_page_count", pages)?;
    }
    // The committer waits by itself, so that a shutdown can interrupt it.
    connection.busy_timeout(std::time::Duration::ZERO)
}

/// Settings of a reader.
pub(super) fn set_up_reader(
    connection: &Connection,
    config: &SqliteConfig,
) -> Result<(), rusqlite::Error> {
    set_up(connection, READER_CACHE_KIB)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.busy_timeout(config.read_max)
}

/// Memory-mapped reads are off: an I/O error there would be a signal, not an error.
fn set_up(connection: &Connection, cache: i64) -> Result<(), rusqlite::Error> {
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", cache)
}
