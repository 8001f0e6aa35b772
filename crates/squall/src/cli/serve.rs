//! `squall serve`: every option, by theme.

use crate::cli::{FollowArgs, HttpArgs, ListenArgs, ProcessArgs, StorageArgs};

/// Options of `squall serve`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Where it listens, and to whom it answers.
    #[command(flatten, next_help_heading = "Listening")]
    pub(crate) listen: ListenArgs,
    /// What is stored where, and how surely.
    #[command(flatten, next_help_heading = "Storage")]
    pub(crate) storage: StorageArgs,
    /// Requests and connections.
    #[command(flatten, next_help_heading = "Requests")]
    pub(crate) http: HttpArgs,
    /// Reading and following.
    #[command(flatten, next_help_heading = "Reading and following")]
    pub(crate) follow: FollowArgs,
    /// The process itself.
    #[command(flatten, next_help_heading = "Process")]
    pub(crate) process: ProcessArgs,
}
