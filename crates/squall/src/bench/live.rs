//! The live line on the terminal.

use std::io::{self, IsTerminal, Write};

use squall_load::run::{Phase, RunProgress};
use squall_report::progress;

use crate::cli::ProgressWhen;

/// A line that is written again and again.
pub(super) struct Live {
    is_shown: bool,
}

impl Live {
    pub(super) fn new(when: ProgressWhen) -> Self {
        Self { is_shown: when == ProgressWhen::Auto && io::stderr().is_terminal() }
    }

    /// Shows how things stand.
    pub(super) fn show(&mut self, now: &RunProgress) {
        let phase = match now.phase {
            Phase::Opening | Phase::WarmUp => progress::Phase::WarmUp,
            Phase::Measuring => progress::Phase::Measuring,
            Phase::Draining => progress::Phase::Draining,
        };
        self.write(&progress::line(&progress::Progress {
            elapsed: now.elapsed,
            total: now.total,
            phase,
            replies_per_second: now.replies_per_second,
            p50_ns: now.p50_ns,
            p99_ns: now.p99_ns,
            failed: now.failed,
            missed: now.missed,
            events_per_second: now.events_per_second,
        }));
    }

    /// Takes the line away.
    pub(super) fn clear(&mut self) {
        self.write("");
    }

    fn write(&mut self, line: &str) {
        if self.is_shown {
            // A terminal that is gone is no reason to stop measuring.
            write!(io::stderr(), "\r{line}\x1b[K").ok();
            io::stderr().flush().ok();
        }
    }
}
