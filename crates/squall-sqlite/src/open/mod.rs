//! Opening a data directory: whose it is, whether it is free, and of which schema.

mod files;
mod pragma;
mod schema;

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::config::SqliteConfig;

pub use schema::SCHEMA_VERSION;

/// Why a store was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server has the data directory.
    #[error("another server has {} open", data_dir.display())]
    Locked {
        /// The directory.
        data_dir: PathBuf,
    },
    /// A newer squall wrote the database.
    #[error(
        "the database has schema version {found}, and this squall knows versions up to \
         {supported}; use the newer squall that made it"
    )]
    NewerSchema {
        /// The version of the database.
        found: i64,
        /// The newest version that is understood.
        supported: i64,
    },
    /// The database is another program's.
    #[error("{} is the database of another program (application id {application_id:#010x})",
        path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// What it says of its owner.
        application_id: i64,
    },
    /// The directory or a file in it could not be made or opened.
    #[error("cannot open {}", path.display())]
    Io {
        /// What was being opened.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// SQLite refused.
    #[error("SQLite cannot open the database")]
    Sqlite(#[from] rusqlite::Error),
}

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
