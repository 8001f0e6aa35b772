//! Exit codes: what the process says when it ends, for scripts and supervisors.
//!
//! They are part of the command's interface: a code keeps its meaning. `squall serve --help`
//! prints this list. 5 is kept for results that are not to be trusted.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

/// Longest wait for a last line of the log: nobody may be reading it.
const LAST_LINE_MAX: Duration = Duration::from_millis(200);

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Everything was finished.
    Done = 0,
    /// A bug, or a failure of the machine that no other code names.
    Other = 1,
    /// The command line asks for something that cannot be.
    Usage = 2,
    /// The target could not be reached, or no reply passed the checks.
    Unreachable = 3,
    /// A condition of `--fail-if` came true, or cannot be told.
    ThresholdMissed = 4,
    /// The store failed, or cannot be opened. What it did last is in doubt, everything
    /// acknowledged before is kept.
    StorageFailed = 6,
    /// The data is not to be touched: locked by another server, or of a newer schema.
    DataUnusable = 7,
    /// The time to drain was up; some connections were cut. All data is stored.
    Cut = 8,
    /// SIGINT ended the process at once, or the window of a bench early.
    Interrupted = 130,
    /// SIGTERM did so.
    Terminated = 143,
}

impl Exit {
    /// Every code, in order.
    pub(crate) const ALL: [Self; 10] = [
        Self::Done,
        Self::Other,
        Self::Usage,
        Self::Unreachable,
        Self::ThresholdMissed,
        Self::StorageFailed,
        Self::DataUnusable,
        Self::Cut,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// The number that the parent process sees.
    pub(crate) const fn code(self) -> u8 {
        self as u8
    }

    /// What it means, in one line of the help.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "everything was finished",
            Self::Other => "a bug, an address in use, or another failure of the machine",
            Self::Usage => "the command line asks for something that cannot be",
            Self::Unreachable => {
                "bench: the target cannot be reached, or no reply passed the checks"
            }
            Self::ThresholdMissed => "bench: a condition of --fail-if came true or cannot be told",
            Self::StorageFailed => {
                "the storage failed or cannot be opened; acknowledged appends are kept, others in doubt"
            }
            Self::DataUnusable => {
                "the data is locked by another server, of a newer schema, or not squall's"
            }
            Self::Cut => "connections were still open after --drain and were cut; data is stored",
            Self::Interrupted => {
                "SIGINT: a second one of serve; of bench any, which reports after the first"
            }
            Self::Terminated => "SIGTERM, likewise",
        }
    }

    /// Logs `sentence` and ends the process, whatever its threads are doing.
    pub(crate) fn now_saying(self, sentence: &'static str) -> ! {
        let deadline = Instant::now() + LAST_LINE_MAX;
        let logged = thread::Builder::new().spawn(move || tracing::error!("{sentence}"));
        while logged.as_ref().is_ok_and(|logged| !logged.is_finished()) && Instant::now() < deadline
        {
            thread::park_timeout(Duration::from_millis(1));
        }
        self.now()
    }

    /// Ends the process, whatever its threads are doing.
    pub(crate) fn now(self) -> ! {
        std::process::exit(i32::from(self.code()))
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// Why a command did not do its work, and the code that says so.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The code.
    pub(crate) exit: Exit,
    /// The sentence for the person at the terminal.
    pub(crate) error: anyhow::Error,
}

impl Failure {
    /// A failure that ends the process with `exit`.
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self { exit, error: error.into() }
    }

    /// A command line that cannot be obeyed, and `sentence` to say why.
    pub(crate) fn usage(sentence: impl Into<String>) -> Self {
        Self::new(Exit::Usage, anyhow::Error::msg(sentence.into()))
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::new(Exit::Other, error)
    }
}
