//! Files below `/proc`, and why one of them could not be read.

use std::fs;
use std::io;

use thiserror::Error;

/// Nanoseconds in a second.
const SECOND_NS: u64 = 1_000_000_000;

/// Why the kernel's figures are not to be had.
#[derive(Debug, Error)]
pub enum ProcError {
    /// The file is missing, or not for us to read.
    #[error("{path} cannot be read")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The file does not look as proc(5) describes it.
    #[error("{path} does not look as expected")]
    Malformed {
        /// The file.
        path: String,
    },
    /// Another system than Linux.
    #[error("this figure comes from Linux's /proc, which this system does not have")]
    Unsupported,
}

impl ProcError {
    pub(super) fn malformed(path: &str) -> Self {
        Self::Malformed { path: path.to_owned() }
    }
}

/// Reads a whole file. The bytes need not be text: a process may choose its name freely.
pub(super) fn read(path: &str) -> Result<Vec<u8>, ProcError> {
    if !cfg!(target_os = "linux") {
        return Err(ProcError::Unsupported);
    }
    fs::read(path).map_err(|source| ProcError::Unreadable { path: path.to_owned(), source })
}

/// Clock ticks, the unit of processor time in `/proc` (proc(5); 10 ms nearly everywhere), in ns.
pub(super) fn ticks_to_ns(ticks: u64) -> u64 {
    ticks.saturating_mul(SECOND_NS / rustix::param::clock_ticks_per_second().max(1))
}

/// Resident bytes from a `statm` file, whose second field is a number of pages (proc(5)).
pub(super) fn resident_bytes(statm: &[u8]) -> Option<u64> {
    let pages: u64 =
        std::str::from_utf8(statm).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(u64::try_from(rustix::param::page_size()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_bytes_are_the_second_field_in_pages() {
        let page = u64::try_from(rustix::param::page_size()).unwrap();
        let check = |statm: &[u8], expected: Option<u64>| {
            assert_eq!(resident_bytes(statm), expected, "{}", statm.escape_ascii());
        };
        check(b"2873 1200 800 210 0 330 0\n", Some(1_200 * page));
        check(b"2873", None);
        check(b"2873 many", None);
        check(b"", None);
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read("/proc/no such file").unwrap_err();
        if cfg!(target_os = "linux") {
            assert_eq!(error.to_string(), "/proc/no such file cannot be read");
        }
    }
}
