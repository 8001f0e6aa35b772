//! What a tree of processes took.

use std::time::Duration;

/// The sums over a tree at one moment, or between two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeSample {
    /// Processor time in user mode, in steps of a tick (10 ms nearly everywhere).
    pub cpu_user: Duration,
    /// Processor time in the kernel, in the same steps.
    pub cpu_system: Duration,
    /// Resident memory. Pages that processes share count once for each.
    pub rss_bytes: u64,
    /// Threads that live.
    pub threads: u64,
    /// Context switches of the living threads because one waited.
    pub voluntary_switches: u64,
    /// Context switches of the living threads because another had its turn.
    pub involuntary_switches: u64,
    /// Processes that live.
    pub processes: u64,
}

impl TreeSample {
    /// What was counted between `earlier` and this sample, with memory, threads and processes
    /// as they are now. A counter that ran backwards, since a thread or an unwaited process
    /// took its share away, counts as zero.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu_user: self.cpu_user.saturating_sub(earlier.cpu_user),
            cpu_system: self.cpu_system.saturating_sub(earlier.cpu_system),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_differences_and_levels_are_as_now() {
        let sample = |cpu_ms, level, switches| TreeSample {
            cpu_user: Duration::from_millis(cpu_ms),
            cpu_system: Duration::from_millis(2 * cpu_ms),
            rss_bytes: level,
            threads: level,
            voluntary_switches: switches,
            involuntary_switches: 2 * switches,
            processes: level,
        };
        let check = |now: TreeSample, earlier: TreeSample, expected: TreeSample| {
            assert_eq!(now.since(&earlier), expected);
        };
        check(sample(50, 7, 9), sample(20, 3, 4), sample(30, 7, 5));
        check(sample(20, 3, 4), sample(50, 7, 9), sample(0, 3, 0));
    }
}
