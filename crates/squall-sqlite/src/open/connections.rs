//! The connections: one that writes, and those that read.

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::config::SqliteConfig;
use crate::open::{OpenError, files, pragma, schema};

/// The database's file in the data directory.
fn database_path(data_dir: &Path) -> PathBuf {
    data_dir.join("squall.db")
}

/// The one connection that writes, and the lock on the data directory. The lock must be
/// dropped after the connection.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    pub(crate) lock: File,
}

/// Opens the database to write to it, and makes it if there is none.
pub(crate) fn open_writer(config: &SqliteConfig) -> Result<Opened, OpenError> {
    let data_dir = &config.data_dir;
    files::make_data_dir(data_dir)?;
    let lock = files::lock(data_dir)?;
    let path = database_path(data_dir);
    files::make_database_file(data_dir, &path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&path, flags)?;
    // Neither a database that is refused nor a store that failed may be written to once
    // more when the connection is dropped.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_timeout(config.busy_timeout)?;
    schema::bring_up_to_date(&mut connection, &path, config)?;
    pragma::set_up_writer(&connection, config)?;
    Ok(Opened { connection, lock })
}

/// Opens the database to read from it. The writer must be open.
pub(crate) fn open_reader(config: &SqliteConfig) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database_path(&config.data_dir), flags)?;
    pragma::set_up_reader(&connection, config)?;
    Ok(connection)
}
