//! Processors: which there are for us, and staying on some of them.

use std::io;

use thiserror::Error;

/// The highest processor number that can be named is one less (`CPU_SETSIZE`, sched.h).
pub const CPUS_MAX: u32 = 1_024;

/// Why a list of processors is not one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ListError {
    /// Nothing between two commas, or nothing at all.
    #[error("a list of processors looks like `0,2-3`, and an entry of this one is empty")]
    Empty,
    /// An entry is neither a number nor a range.
    #[error("`{entry}` is neither a processor number nor a range such as `2-3`")]
    Malformed {
        /// What stands between the commas.
        entry: String,
    },
    /// A range that ends before it starts.
    #[error("the range `{entry}` ends before it starts")]
    Reversed {
        /// What stands between the commas.
        entry: String,
    },
    /// A number of 1,024 or more.
    #[error("there is no processor {cpu}: the highest possible number is 1023")]
    TooHigh {
        /// The number.
        cpu: u32,
    },
}

/// Why a thread could not be kept on some processors.
#[derive(Debug, Error)]
pub enum PinError {
    /// No processor was named.
    #[error("a thread needs at least one processor")]
    Empty,
    /// The processor does not exist, or a container or `taskset` keeps it from us.
    #[error("processor {cpu} is not one of those that this process may use")]
    NotAllowed {
        /// Its number.
        cpu: u32,
    },
    /// The system refused.
    #[error("the system does not let the thread choose its processors")]
    Refused(#[source] io::Error),
    /// A system without a call for it.
    #[error("pinning threads to processors works on Linux only")]
    Unsupported,
}

/// The processors that the calling thread may use, in ascending order and never empty. A new
/// thread starts with those of the thread that made it.
#[must_use]
pub fn allowed() -> Vec<u32> {
    system::allowed().filter(|cpus| !cpus.is_empty()).unwrap_or_else(counted)
}

/// How many processors are left when a server has one: at least 1.
#[must_use]
pub fn spare() -> usize {
    allowed().len().saturating_sub(1).max(1)
}

/// Keeps the calling thread on `cpus` from now on.
///
/// # Errors
/// [`PinError`]; the thread then stays where it was allowed before.
pub fn pin_this_thread(cpus: &[u32]) -> Result<(), PinError> {
    if cpus.is_empty() {
        return Err(PinError::Empty);
    }
    system::pin(cpus)
}

/// Reads a list such as `0,2-3`, the form that `taskset -c` and the kernel use. The numbers
/// come back in ascending order, each once.
///
/// # Errors
/// [`ListError`] names the first entry that is wrong.
pub fn parse_list(text: &str) -> Result<Vec<u32>, ListError> {
    let mut cpus = Vec::new();
    for entry in text.split(',').map(str::trim) {
        let (first, last) = entry.split_once('-').unwrap_or((entry, entry));
        let (first, last) = (number(first, entry)?, number(last, entry)?);
        if last < first {
            return Err(ListError::Reversed { entry: entry.to_owned() });
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

fn number(digits: &str, entry: &str) -> Result<u32, ListError> {
    if entry.is_empty() {
        return Err(ListError::Empty);
    }
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse() {
        Ok(cpu) if is_number && cpu < CPUS_MAX => Ok(cpu),
        Ok(cpu) if is_number => Err(ListError::TooHigh { cpu }),
        _ => Err(ListError::Malformed { entry: entry.to_owned() }),
    }
}

/// As many processors as the standard library counts, where the system does not list them.
fn counted() -> Vec<u32> {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    (0..u32::try_from(count).unwrap_or(CPUS_MAX)).collect()
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::{CPUS_MAX, PinError};

    pub(super) fn allowed() -> Option<Vec<u32>> {
        let set = sched_getaffinity(None).ok()?;
        Some((0..CPUS_MAX).filter(|&cpu| has(&set, cpu)).collect())
    }

    pub(super) fn pin(cpus: &[u32]) -> Result<(), PinError> {
        let mut set = CpuSet::new();
        for &cpu in cpus {
            set.set(index(cpu).ok_or(PinError::NotAllowed { cpu })?);
        }
        let before = sched_getaffinity(None).map_err(|errno| PinError::Refused(errno.into()))?;
        match sched_setaffinity(None, &set) {
            // The kernel found none of them.
            Err(rustix::io::Errno::INVAL) => Err(PinError::NotAllowed { cpu: cpus[0] }),
            Err(errno) => Err(PinError::Refused(errno.into())),
            Ok(()) => confirm(cpus, &before),
        }
    }

    /// The kernel drops processors that are not allowed without a word; we do not.
    fn confirm(cpus: &[u32], before: &CpuSet) -> Result<(), PinError> {
        let after = sched_getaffinity(None).map_err(|errno| PinError::Refused(errno.into()))?;
        let Some(&cpu) = cpus.iter().find(|&&cpu| !has(&after, cpu)) else {
            return Ok(());
        };
        sched_setaffinity(None, before).map_err(|errno| PinError::Refused(errno.into()))?;
        Err(PinError::NotAllowed { cpu })
    }

    fn has(set: &CpuSet, cpu: u32) -> bool {
        index(cpu).is_some_and(|index| set.is_set(index))
    }

    /// Where `cpu` stands in a set, if it can: the set itself panics beyond its end.
    fn index(cpu: u32) -> Option<usize> {
        usize::try_from(cpu).ok().filter(|&index| index < CpuSet::MAX_CPU)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::PinError;

    pub(super) fn allowed() -> Option<Vec<u32>> {
        None
    }

    pub(super) fn pin(_cpus: &[u32]) -> Result<(), PinError> {
        Err(PinError::Unsupported)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_list_has_numbers_and_ranges() {
        let check = |text: &str, expected: &[u32]| {
            assert_eq!(parse_list(text).as_deref(), Ok(expected), "{text}");
        };
        check("0", &[0]);
        check("0,2-3", &[0, 2, 3]);
        check(" 7, 1 ,1-2", &[1, 2, 7]);
        check("1023", &[1023]);
    }

    #[test]
    fn a_wrong_list_is_refused_with_the_entry() {
        let check = |text: &str, expected: &str| {
            assert_eq!(parse_list(text).unwrap_err().to_string(), expected, "{text}");
        };
        let empty = "a list of processors looks like `0,2-3`, and an entry of this one is empty";
        check("", empty);
        check("0,,1", empty);
        check("0,", empty);
        check("x", "`x` is neither a processor number nor a range such as `2-3`");
        check("+1", "`+1` is neither a processor number nor a range such as `2-3`");
        check("-1", "`-1` is neither a processor number nor a range such as `2-3`");
        check("1-", "`1-` is neither a processor number nor a range such as `2-3`");
        check("1-2-3", "`1-2-3` is neither a processor number nor a range such as `2-3`");
        check("3-2", "the range `3-2` ends before it starts");
        check("1024", "there is no processor 1024: the highest possible number is 1023");
        check(
            "0-4000000000",
            "there is no processor 4000000000: the highest possible number is 1023",
        );
    }

    #[test]
    fn there_is_always_a_processor_to_spare() {
        assert!(!allowed().is_empty());
        assert!(spare() >= 1);
        assert!(spare() <= allowed().len());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pinned_thread_stays_on_its_processor() {
        let last = *allowed().last().unwrap();
        thread::spawn(move || {
            pin_this_thread(&[last]).unwrap();
            assert_eq!(allowed(), [last]);
        })
        .join()
        .unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_processor_that_is_not_there_changes_nothing() {
        let check = |cpus: Vec<u32>, expected: &'static str| {
            thread::spawn(move || {
                let before = allowed();
                assert_eq!(pin_this_thread(&cpus).unwrap_err().to_string(), expected);
                assert_eq!(allowed(), before);
            })
            .join()
            .unwrap();
        };
        let first = allowed()[0];
        check(vec![], "a thread needs at least one processor");
        check(vec![1023], "processor 1023 is not one of those that this process may use");
        check(vec![first, 1023], "processor 1023 is not one of those that this process may use");
        check(vec![5000], "processor 5000 is not one of those that this process may use");
    }
}
