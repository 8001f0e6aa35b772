//! The limit of open files, and how many connections fit below it.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are not connections: the database, its log, and what reads them.
const OTHER_FILES: usize = 64;
/// What is assumed where the system names no limit.
const UNLIMITED: u64 = 1 << 20;

/// Raises the soft limit to the hard one and returns it. Where that is refused, the soft
/// limit stands.
pub(super) fn raise_limit() -> io::Result<usize> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        // A limit that cannot be raised is still a limit to work with.
        setrlimit(Resource::Nofile, raised).ok();
    }
    let current = getrlimit(Resource::Nofile).current.unwrap_or(UNLIMITED);
    usize::try_from(current).map_err(io::Error::other)
}

/// The most connections that `files_max` leaves room for.
pub(super) fn connections_most(files_max: usize) -> usize {
    files_max.saturating_sub(OTHER_FILES)
}

/// 90 % of the files, or fewer where the rest would not do for everything else.
pub(super) fn connections_default(files_max: usize) -> usize {
    files_max.saturating_sub(files_max.div_ceil(10)).min(connections_most(files_max)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_the_database() {
        let check = |files: usize, expected: usize| {
            assert_eq!(connections_default(files), expected, "{files}");
        };
        check(1_000_000, 900_000);
        check(1_000, 900);
        check(256, 192);
        check(64, 1);
        check(0, 1);
    }
}
