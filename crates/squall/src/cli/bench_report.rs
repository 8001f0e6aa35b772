//! What is printed, and when a run counts as failed.

use std::path::PathBuf;

use clap::ValueEnum;
use squall_stats::threshold::Threshold;

/// Options of the report.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Whether a live line is shown while the run goes on: auto shows it on a terminal.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) progress: ProgressWhen,

    /// Form of what is printed at the end.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,

    /// File for the result as JSON, written when the run is over.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Condition under which the run counts as failed (exit code 4), such as 'p99 > 20ms',
    /// 'rate < 10000' or 'failed > 0.1%'. Repeat it for more.
    #[arg(long = "fail-if", value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Threshold>,
}

/// When the live line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressWhen {
    /// On a terminal.
    Auto,
    /// Never.
    Never,
}

/// Form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One screen for people.
    Text,
    /// The whole record, for programs.
    Json,
}
