//! The process: threads, shutdown, logging.

use std::time::Duration;

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

use crate::value::{count, duration};

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Options of the process.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ProcessArgs {
    /// Longest time to finish open requests at shutdown; then connections are cut.
    #[arg(long, env = "SQUALL_DRAIN", value_name = "TIME", default_value = "10s")]
    #[arg(value_parser = duration(Duration::ZERO, Duration::from_secs(3_600)))]
    pub(crate) drain: Duration,

    /// Threads that serve connections. By default one for each core that the process may use.
    #[arg(long, env = "SQUALL_THREADS", value_name = "COUNT", value_parser = count(1, 1_024))]
    pub(crate) threads: Option<usize>,

    /// How log lines on standard error look.
    #[arg(long, env = "SQUALL_LOG_FORMAT", value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,

    /// What is logged: off, error, warn, info, debug or trace, also by module, such as
    /// info,squall_server=debug.
    #[arg(long, env = "SQUALL_LOG", value_name = "FILTER", default_value = "info")]
    #[arg(value_parser = parse_filter)]
    pub(crate) log: String,
}

fn parse_filter(text: &str) -> Result<String, String> {
    match EnvFilter::try_new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!("{error}; write a level, such as info or warn")),
    }
}
