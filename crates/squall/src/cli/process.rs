//! The process: threads, shutdown, logging.

use std::time::Duration;

use clap::ValueEnum;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

use crate::value::{count, duration};

const LEVELS: &str = "write off, error, warn, info, debug or trace, or a module with one of them, \
    such as info,squall_server=debug";

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

/// Checks a filter. A word alone has to be a level: any other would be taken for a module's
/// name, and a misspelt level would silence the rest without a word.
fn parse_filter(text: &str) -> Result<String, String> {
    let is_level = |word: &str| !word.is_empty() && word.parse::<LevelFilter>().is_ok();
    for part in text.split(',') {
        let level = part.rsplit('=').next().unwrap_or_default().trim();
        if !is_level(level) {
            return Err(format!("{level:?} is no level; {LEVELS}"));
        }
    }
    match EnvFilter::try_new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!("{error}; {LEVELS}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_made_of_levels() {
        for text in ["info", "off", "WARN", "info,squall_server=debug", "squall::serve=trace"] {
            assert_eq!(parse_filter(text).as_deref(), Ok(text));
        }
        for text in ["", "verbose", "info,squall_server", "squall_server=loud", "info,"] {
            assert!(parse_filter(text).is_err_and(|error| error.contains("such as")), "{text}");
        }
    }
}
