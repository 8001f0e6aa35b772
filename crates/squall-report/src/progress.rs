//! The line that a person watches while a run goes on.

use std::time::Duration;

use crate::text;

/// Most characters of a line, so that it never wraps on a usual terminal.
const LINE_LEN_MAX: usize = 100;

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before the window: nothing of this counts.
    WarmUp,
    /// Inside the window.
    Measuring,
    /// After the window: waiting for replies that are on their way.
    Draining,
}

/// A run as of now.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Since the run began.
    pub elapsed: Duration,
    /// What the run is meant to take; `None` if a number of requests ends it.
    pub total: Option<Duration>,
    /// Where the run is.
    pub phase: Phase,
    /// Verified replies of the last second.
    pub replies_per_second: f64,
    /// Median response time of the last second; `None` with too few replies.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the response time of the last second; `None` with too few replies.
    pub p99_ns: Option<u64>,
    /// Requests that failed so far.
    pub failed: u64,
    /// Arrivals that are due by now and were not sent yet, in an open loop.
    pub missed: u64,
    /// Events that followers received in the last second; `None` without followers.
    pub events_per_second: Option<f64>,
}

/// One line of at most 100 characters, without an end of line.
///
/// A field that no longer fits is left away whole: half a number would be a wrong one.
#[must_use]
pub fn line(progress: &Progress) -> String {
    let mut line = clock(progress);
    for field in fields(progress) {
        let separated = format!("  {field}");
        if line.chars().count() + separated.chars().count() > LINE_LEN_MAX {
            break;
        }
        line.push_str(&separated);
    }
    line
}

fn clock(progress: &Progress) -> String {
    let elapsed = text::count(progress.elapsed.as_secs());
    match progress.total {
        Some(total) => format!("{elapsed}/{} s", text::count(whole_seconds_up(total))),
        None => format!("{elapsed} s"),
    }
}

/// A run of half a second is shown as one of 1 s, never as one of 0 s.
fn whole_seconds_up(duration: Duration) -> u64 {
    duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0))
}

/// In the order of their weight, since the last ones may not fit.
fn fields(progress: &Progress) -> Vec<String> {
    let phase = match progress.phase {
        Phase::WarmUp => "warm-up",
        Phase::Measuring => "measuring",
        Phase::Draining => "draining",
    };
    let mut fields = vec![
        phase.to_owned(),
        format!("{}/s", text::per_second(progress.replies_per_second)),
        percentile("p50", progress.p50_ns),
        percentile("p99", progress.p99_ns),
        format!("{} failed", text::count(progress.failed)),
    ];
    if progress.missed > 0 {
        fields.push(format!("{} late", text::count(progress.missed)));
    }
    if let Some(events) = progress.events_per_second {
        fields.push(format!("{} events/s", text::per_second(events)));
    }
    fields
}

fn percentile(name: &str, nanoseconds: Option<u64>) -> String {
    format!("{name} {}", nanoseconds.map_or_else(|| "n/a".to_owned(), text::time))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn early() -> Progress {
        Progress {
            elapsed: Duration::from_millis(3210),
            total: Some(Duration::from_secs(10)),
            phase: Phase::Measuring,
            replies_per_second: 38_412.3,
            p50_ns: Some(1_020_000),
            p99_ns: Some(4_100_000),
            failed: 0,
            missed: 0,
            events_per_second: None,
        }
    }

    fn check(progress: &Progress, expected: &str) {
        assert_eq!(line(progress), expected);
    }

    #[test]
    fn the_line_says_where_the_run_is() {
        check(&early(), "3/10 s  measuring  38,412/s  p50 1.02 ms  p99 4.10 ms  0 failed");
        let warm_up = Progress { phase: Phase::WarmUp, total: None, p99_ns: None, ..early() };
        check(&warm_up, "3 s  warm-up  38,412/s  p50 1.02 ms  p99 n/a  0 failed");
        let draining = Progress {
            phase: Phase::Draining,
            total: Some(Duration::from_millis(500)),
            replies_per_second: 0.0,
            ..early()
        };
        check(&draining, "3/1 s  draining  0/s  p50 1.02 ms  p99 4.10 ms  0 failed");
    }

    #[test]
    fn followers_and_late_arrivals_are_shown_if_there_are_any() {
        let busy = Progress { missed: 12, events_per_second: Some(5000.0), ..early() };
        check(
            &busy,
            "3/10 s  measuring  38,412/s  p50 1.02 ms  p99 4.10 ms  0 failed  12 late  \
             5,000 events/s",
        );
    }

    #[test]
    fn the_line_never_wraps_and_cuts_no_number() {
        let extreme = Progress {
            elapsed: Duration::MAX,
            total: Some(Duration::MAX),
            replies_per_second: 1e15,
            p50_ns: Some(u64::MAX),
            p99_ns: Some(u64::MAX),
            failed: u64::MAX,
            missed: u64::MAX,
            events_per_second: Some(1e15),
            ..early()
        };
        let line = line(&extreme);
        assert!(line.chars().count() <= LINE_LEN_MAX, "{line}");
        assert!(line.ends_with("000/s"), "{line}");
    }
}
