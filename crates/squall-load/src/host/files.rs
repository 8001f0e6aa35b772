//! The limit of open files: every connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use thiserror::Error;

use super::grouped::grouped;

/// Files that are not connections: the poller, timers, logs, the result, what libraries open.
const OTHER_FILES: u64 = 64;

/// How many files this process may have open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What holds now; `u64::MAX` where there is no limit.
    pub soft: u64,
    /// How far the process may raise it by itself; `u64::MAX` where there is no limit.
    pub hard: u64,
}

/// Why there are too few files for the connections.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FilesError {
    /// The shell's limit is in the way.
    #[error(
        "{} connections need {} open files, but the limit is {}: run `ulimit -n {needed}` first",
        grouped(*.connections), grouped(*.needed), grouped(*.limit)
    )]
    Soft {
        /// Connections asked for.
        connections: u64,
        /// Files that they need, with a few for everything else.
        needed: u64,
        /// Files there may be.
        limit: u64,
    },
    /// The system's limit for this user is in the way.
    #[error(
        "{} connections need {} open files, but the limit is {}, which only root can raise: \
         run `ulimit -n {needed}` as root first, or use fewer connections",
        grouped(*.connections), grouped(*.needed), grouped(*.limit)
    )]
    Hard {
        /// Connections asked for.
        connections: u64,
        /// Files that they need, with a few for everything else.
        needed: u64,
        /// Files there may be.
        limit: u64,
    },
}

/// Raises the soft limit to the hard one and returns what holds then. Where that is refused
/// the old limit stands, and is returned.
pub fn raise() -> Limit {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        // A limit that cannot be raised is still a limit to work with.
        setrlimit(Resource::Nofile, raised).ok();
    }
    limit_now()
}

/// Whether `connections` at a time fit below the limit that holds now. [`raise`] comes first.
///
/// # Errors
/// [`FilesError`] says how many files are needed and how to get them.
pub fn enough_for(connections: u64) -> Result<(), FilesError> {
    check(connections, limit_now())
}

fn limit_now() -> Limit {
    let limit = getrlimit(Resource::Nofile);
    Limit { soft: limit.current.unwrap_or(u64::MAX), hard: limit.maximum.unwrap_or(u64::MAX) }
}

fn check(connections: u64, limit: Limit) -> Result<(), FilesError> {
    let needed = connections.saturating_add(OTHER_FILES);
    if needed <= limit.soft {
        Ok(())
    } else if needed <= limit.hard {
        Err(FilesError::Soft { connections, needed, limit: limit.soft })
    } else {
        Err(FilesError::Hard { connections, needed, limit: limit.hard })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_files_are_explained() {
        let refusal = |connections: u64, soft: u64, hard: u64| {
            check(connections, Limit { soft, hard }).err().map(|error| error.to_string())
        };
        assert_eq!(refusal(960, 1_024, 1_024), None);
        assert_eq!(refusal(u64::MAX, u64::MAX, u64::MAX), None);
        assert_eq!(
            refusal(10_000, 1_024, 20_000).as_deref(),
            Some(
                "10,000 connections need 10,064 open files, but the limit is 1,024: \
                 run `ulimit -n 10064` first"
            )
        );
        assert_eq!(
            refusal(10_000, 1_024, 4_096).as_deref(),
            Some(
                "10,000 connections need 10,064 open files, but the limit is 4,096, which only \
                 root can raise: run `ulimit -n 10064` as root first, or use fewer connections"
            )
        );
    }

    #[test]
    fn raising_leaves_room_for_one_connection() {
        let limit = raise();
        assert!(limit.soft <= limit.hard);
        assert_eq!(enough_for(1), Ok(()));
    }
}
