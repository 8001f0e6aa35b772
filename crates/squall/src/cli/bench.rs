//! `squall bench`: every option, by theme.

use crate::cli::{CheckArgs, LoadArgs, NetworkArgs, ReportArgs, RequestArgs};

/// Options of `squall bench`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// What is sent.
    #[command(flatten, next_help_heading = "Requests")]
    pub(crate) requests: RequestArgs,
    /// How much of it, and when.
    #[command(flatten, next_help_heading = "Load")]
    pub(crate) load: LoadArgs,
    /// What a reply must be.
    #[command(flatten, next_help_heading = "Checks")]
    pub(crate) checks: CheckArgs,
    /// How the server is reached.
    #[command(flatten, next_help_heading = "Connections")]
    pub(crate) network: NetworkArgs,
    /// What is printed, and when the run counts as failed.
    #[command(flatten, next_help_heading = "Report")]
    pub(crate) report: ReportArgs,
}
