//! Why a store was not opened.

use std::path::PathBuf;

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
