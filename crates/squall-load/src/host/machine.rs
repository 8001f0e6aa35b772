//! What all processors of this machine did, and what its host took away.

use std::time::Duration;

use super::proc::{self, ProcError};

/// One line per processor, and before them their sum (proc(5)).
const STAT_PATH: &str = "/proc/stat";

/// Time of all processors together since the start of the machine, or between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineSample {
    /// Something ran: programs, the kernel, interrupts.
    pub busy: Duration,
    /// Nothing ran, or only the disk was waited for.
    pub idle: Duration,
    /// Something wanted to run, but the host of this virtual machine ran something else.
    pub steal: Duration,
}

impl MachineSample {
    /// What passed between `earlier` and this sample. A counter that ran backwards, as `iowait`
    /// may (proc(5)), counts as zero.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(earlier.busy),
            idle: self.idle.saturating_sub(earlier.idle),
            steal: self.steal.saturating_sub(earlier.steal),
        }
    }

    /// Share of the time that was stolen, 0 to 1; 0 if no time passed.
    #[must_use]
    pub fn steal_fraction(&self) -> f64 {
        let total = self.busy + self.idle + self.steal;
        if total.is_zero() { 0.0 } else { self.steal.as_secs_f64() / total.as_secs_f64() }
    }
}

/// Takes a sample; steps are 10 ms nearly everywhere.
///
/// # Errors
/// [`ProcError`] if `/proc/stat` is not there or not understood.
pub fn sample() -> Result<MachineSample, ProcError> {
    parse(&proc::read(STAT_PATH)?).ok_or_else(|| ProcError::malformed(STAT_PATH))
}

fn parse(stat: &[u8]) -> Option<MachineSample> {
    let line = stat.split(|&byte| byte == b'\n').next()?;
    let mut fields = std::str::from_utf8(line).ok()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let mut next = || fields.next()?.parse::<u64>().ok();
    // Guests, the two fields behind these, are counted in `user` and `nice` already.
    let [user, nice, system, idle] = [next()?, next()?, next()?, next()?];
    let [iowait, interrupt, soft_interrupt, steal] = [(); 4].map(|()| next().unwrap_or(0));
    let time = |ticks: &[u64]| {
        let sum = ticks.iter().fold(0_u64, |sum, &ticks| sum.saturating_add(ticks));
        Duration::from_nanos(proc::ticks_to_ns(sum))
    };
    Some(MachineSample {
        busy: time(&[user, nice, system, interrupt, soft_interrupt]),
        idle: time(&[idle, iowait]),
        steal: time(&[steal]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(count: u64) -> Duration {
        Duration::from_nanos(proc::ticks_to_ns(count))
    }

    #[test]
    fn the_first_line_is_the_sum() {
        let check = |stat: &str, expected: Option<[u64; 3]>| {
            let expected = expected.map(|[busy, idle, steal]| MachineSample {
                busy: ticks(busy),
                idle: ticks(idle),
                steal: ticks(steal),
            });
            assert_eq!(parse(stat.as_bytes()), expected, "{stat}");
        };
        check("cpu  10 2 30 400 5 6 7 8 9 1\ncpu0 1 1 1 1\n", Some([55, 405, 8]));
        check("cpu  10 2 30 400\n", Some([42, 400, 0]));
        check("cpu  10 2 30\n", None);
        check("cpu0 10 2 30 400\n", None);
        check("", None);
    }

    #[test]
    fn a_difference_never_runs_backwards() {
        let sample = |busy, idle, steal| MachineSample {
            busy: ticks(busy),
            idle: ticks(idle),
            steal: ticks(steal),
        };
        let difference = sample(95, 500, 5).since(&sample(0, 501, 0));
        assert_eq!(difference, sample(95, 0, 5));
        assert!((difference.steal_fraction() - 0.05).abs() < 1e-9);
        assert!(MachineSample::default().steal_fraction().abs() < 1e-9);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_been_up() {
        let sample = sample().unwrap();
        assert!(sample.busy > Duration::ZERO);
    }
}
