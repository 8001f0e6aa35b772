//! What an error of SQLite means for those who wait.

use rusqlite::{Error, ErrorCode};

/// Why a transaction, a checkpoint or a statement did not go through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// No space. Nothing was committed; it passes.
    Full,
    /// Another process holds a lock. Nothing was committed; it passes.
    Busy,
    /// This change cannot be stored, another can. Nothing was committed.
    Logic(String),
    /// What was written last is in doubt. Nothing may be acknowledged any more.
    Fatal(String),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        let reason = error.to_string();
        let Some(code) = error.sqlite_error_code() else {
            return Self::Logic(reason);
        };
        match code {
            ErrorCode::DiskFull => Self::Full,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy,
            ErrorCode::SystemIoFailure
            | ErrorCode::DatabaseCorrupt
            | ErrorCode::CannotOpen
            | ErrorCode::NotADatabase
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::NoLargeFileSupport
            | ErrorCode::InternalMalfunction => Self::Fatal(reason),
            _ => Self::Logic(reason),
        }
    }
}

impl Trouble {
    /// The same trouble met while committing: what is no clean refusal is in doubt.
    pub(crate) fn at_commit(self) -> Self {
        match self {
            Self::Full | Self::Busy => self,
            Self::Logic(reason) | Self::Fatal(reason) => Self::Fatal(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    fn of(extended_code: i32) -> Trouble {
        Trouble::from(Error::SqliteFailure(ffi::Error::new(extended_code), None))
    }

    #[test]
    fn only_io_and_corruption_are_fatal() {
        assert_eq!(of(ffi::SQLITE_FULL), Trouble::Full);
        assert_eq!(of(ffi::SQLITE_BUSY), Trouble::Busy);
        assert_eq!(of(ffi::SQLITE_BUSY_RECOVERY), Trouble::Busy);
        for code in [
            ffi::SQLITE_IOERR,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_IOERR_SHMSIZE,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_NOTADB,
            ffi::SQLITE_READONLY_DBMOVED,
        ] {
            assert!(matches!(of(code), Trouble::Fatal(_)), "{code}");
        }
        for code in [ffi::SQLITE_CONSTRAINT_UNIQUE, ffi::SQLITE_TOOBIG, ffi::SQLITE_NOMEM] {
            assert!(matches!(of(code), Trouble::Logic(_)), "{code}");
        }
    }

    #[test]
    fn nothing_but_a_full_disk_is_forgiven_at_a_commit() {
        assert_eq!(of(ffi::SQLITE_FULL).at_commit(), Trouble::Full);
        assert!(matches!(of(ffi::SQLITE_NOMEM).at_commit(), Trouble::Fatal(_)));
    }
}
