//! One process: the files `stat` and `status` below `/proc/PID` (proc(5)).

use std::time::Duration;

use memchr::memrchr;

use super::super::proc;

/// Processor time, split as the kernel does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::host) struct CpuTime {
    pub(in crate::host) cpu_user: Duration,
    pub(in crate::host) cpu_system: Duration,
}

/// What `stat` says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::host) struct Stat {
    pub(super) parent: u32,
    /// It ended, and its parent has not asked how.
    pub(super) is_zombie: bool,
    /// All threads of the process, also those that ended.
    pub(in crate::host) own: CpuTime,
    /// Children that ended and were waited for, and likewise theirs.
    pub(super) waited_for: CpuTime,
    pub(super) threads: u64,
    /// Ticks from the start of the machine. With the id it names a process for ever.
    pub(super) started: u64,
}

impl Stat {
    /// The name may hold spaces, parentheses and bytes that are not text, but the last closing
    /// parenthesis is the one behind it: all that follows is a letter and numbers.
    pub(in crate::host) fn parse(stat: &[u8]) -> Option<Self> {
        let behind_name = stat.get(memrchr(b')', stat)? + 1..)?;
        let mut fields = std::str::from_utf8(behind_name).ok()?.split_ascii_whitespace();
        let is_zombie = matches!(fields.next()?, "Z" | "X");
        let parent = fields.next()?.parse().ok()?;
        // Fields count from 1 in proc(5); the parent is the fourth.
        let mut fields = fields.skip(14 - 5);
        let mut next = || fields.next()?.parse::<u64>().ok();
        let own = CpuTime { cpu_user: time(next()?), cpu_system: time(next()?) };
        let waited_for = CpuTime { cpu_user: time(next()?), cpu_system: time(next()?) };
        let mut fields = fields.skip(20 - 18);
        let threads = fields.next()?.parse().ok()?;
        let started = fields.nth(22 - 21)?.parse().ok()?;
        Some(Self { parent, is_zombie, own, waited_for, threads, started })
    }
}

/// Context switches of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Switches {
    pub(super) voluntary: u64,
    pub(super) involuntary: u64,
}

impl Switches {
    /// Reads the `status` of a thread. A line that is missing counts as zero.
    pub(super) fn parse(status: &[u8]) -> Self {
        let mut switches = Self::default();
        for line in status.split(|&byte| byte == b'\n') {
            if let Some(value) = line.strip_prefix(b"voluntary_ctxt_switches:") {
                switches.voluntary = number(value);
            } else if let Some(value) = line.strip_prefix(b"nonvoluntary_ctxt_switches:") {
                switches.involuntary = number(value);
            }
        }
        switches
    }
}

fn time(ticks: u64) -> Duration {
    Duration::from_nanos(proc::ticks_to_ns(ticks))
}

fn number(value: &[u8]) -> u64 {
    std::str::from_utf8(value).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behind the name: parent 7, user 11, system 12, children 13 and 14, 5 threads, start 99.
    const FIELDS: &str =
        "7 1 1 0 -1 4194560 8 0 0 0 11 12 13 14 20 0 5 0 99 1000 200 18446744073709551615";

    fn parse(name: &[u8], state: &str) -> Option<Stat> {
        let mut stat = b"1234 (".to_vec();
        stat.extend_from_slice(name);
        stat.extend_from_slice(format!(") {state} {FIELDS}\n").as_bytes());
        Stat::parse(&stat)
    }

    #[test]
    fn any_name_is_stepped_over() {
        let check = |name: &[u8]| {
            let stat = parse(name, "S").unwrap();
            assert_eq!(stat.parent, 7, "{}", name.escape_ascii());
            assert!(!stat.is_zombie);
            assert_eq!(stat.own, CpuTime { cpu_user: time(11), cpu_system: time(12) });
            assert_eq!(stat.waited_for, CpuTime { cpu_user: time(13), cpu_system: time(14) });
            assert_eq!(stat.threads, 5);
            assert_eq!(stat.started, 99);
        };
        check(b"squall");
        check(b"tokio worker 1");
        check(b"a) Z 1 1 (b");
        check(b"))((");
        check(b"");
        check(b"\xFF\n\xFE");
    }

    #[test]
    fn an_ended_process_is_told_from_a_stopped_one() {
        let check = |state: &str, expected: bool| {
            assert_eq!(parse(b"sh", state).unwrap().is_zombie, expected, "{state}");
        };
        check("R", false);
        check("T", false);
        check("Z", true);
        check("X", true);
    }

    #[test]
    fn a_short_file_is_refused() {
        for stat in ["", "1", "1 (sh", "1 (sh)", "1 (sh) S", "1 (sh) S 1 1 1 0 -1 0 0 0 0 0 1 2 3"]
        {
            assert_eq!(Stat::parse(stat.as_bytes()), None, "{stat}");
        }
    }

    #[test]
    fn switches_come_from_their_lines() {
        let check = |status: &str, voluntary: u64, involuntary: u64| {
            let expected = Switches { voluntary, involuntary };
            assert_eq!(Switches::parse(status.as_bytes()), expected, "{status}");
        };
        check("Name:\tsh\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t7\n", 150, 7);
        check("Name:\tsh\n", 0, 0);
        check("voluntary_ctxt_switches:\tmany\n", 0, 0);
        check("", 0, 0);
    }
}
