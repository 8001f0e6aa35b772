//! What this process and its threads take from the machine.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

use super::proc::{self, ProcError};
use super::process::Stat;

/// How this process is called below `/proc`.
const STAT_PATH: &str = "/proc/self/stat";
const STATM_PATH: &str = "/proc/self/statm";

/// Processor time of this process since its start, or between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// In user mode.
    pub cpu_user: Duration,
    /// In the kernel.
    pub cpu_system: Duration,
}

impl Usage {
    /// What was used between `earlier` and this; never negative.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu_user: self.cpu_user.saturating_sub(earlier.cpu_user),
            cpu_system: self.cpu_system.saturating_sub(earlier.cpu_system),
        }
    }

    /// User and system time together.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        self.cpu_user.saturating_add(self.cpu_system)
    }
}

/// Processor time of the calling thread since its start, to the nanosecond.
#[must_use]
pub fn thread_cpu() -> Duration {
    duration(clock_gettime(ClockId::ThreadCPUTime))
}

/// Processor time of all threads of this process, also those that ended. The sum is exact to
/// the nanosecond; the kernel splits it in steps of a tick, 10 ms nearly everywhere.
///
/// # Errors
/// [`ProcError`] if `/proc` does not tell the split.
pub fn process() -> Result<Usage, ProcError> {
    let stat = Stat::parse(&proc::read(STAT_PATH)?);
    let cpu_system = stat.ok_or_else(|| ProcError::malformed(STAT_PATH))?.own.cpu_system;
    let total = duration(clock_gettime(ClockId::ProcessCPUTime));
    Ok(Usage { cpu_user: total.saturating_sub(cpu_system), cpu_system })
}

/// Resident memory of this process, in bytes.
///
/// # Errors
/// [`ProcError`] if `/proc` does not tell it.
pub fn rss_bytes() -> Result<u64, ProcError> {
    proc::resident_bytes(&proc::read(STATM_PATH)?).ok_or_else(|| ProcError::malformed(STATM_PATH))
}

/// A processor clock starts at zero, so it is never negative.
fn duration(time: Timespec) -> Duration {
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    /// Burns processor time of this thread. Ends by that clock, so it waits for nothing else.
    fn burn(time: Duration) {
        let start = thread_cpu();
        let mut number = 1_u64;
        while thread_cpu().saturating_sub(start) < time {
            number = black_box(number.wrapping_mul(6_364_136_223_846_793_005));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_counts_what_its_ended_threads_used() {
        let before = process().unwrap();
        std::thread::spawn(|| burn(Duration::from_millis(40))).join().unwrap();
        let used = process().unwrap().since(&before);
        assert!(used.cpu() >= Duration::from_millis(25), "{used:?}");
    }

    #[test]
    fn a_difference_never_runs_backwards() {
        let usage = |user, system| Usage {
            cpu_user: Duration::from_millis(user),
            cpu_system: Duration::from_millis(system),
        };
        assert_eq!(usage(3, 9).since(&usage(5, 4)), usage(0, 5));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_memory() {
        assert!(rss_bytes().unwrap() > 100_000);
    }
}
