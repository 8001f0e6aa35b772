//! The commands, and what is said around their options.

use std::sync::LazyLock;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::cli::{BenchArgs, CalibrateArgs, CalibrateServerArgs, ServeArgs};
use crate::exit::Exit;

/// Lines of the help are no longer than this; a narrower terminal wraps them earlier.
const HELP_WIDTH_MAX: usize = 100;

/// `0.1.0 (a1b2c3d, SQLite 3.54.1)`: the release, the commit, the engine.
pub(crate) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = env!("SQUALL_COMMIT");
    format!("{} ({commit}, SQLite {})", env!("CARGO_PKG_VERSION"), squall_sqlite::sqlite_version())
});

static EXIT_CODES: LazyLock<String> = LazyLock::new(|| {
    let line = |exit: &Exit| format!("\n  {:>3}  {}", exit.code(), exit.meaning());
    let lines: String = Exit::ALL.iter().map(line).collect();
    format!("Exit codes:{lines}")
});

/// Durable event streams over HTTP, and a load generator that tells the truth.
#[derive(Debug, Parser)]
#[command(name = "squall", version = VERSION.as_str(), max_term_width = HELP_WIDTH_MAX)]
#[command(after_help = EXIT_CODES.as_str())]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What `squall` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve event streams from a directory on this machine.
    #[command(after_help = EXIT_CODES.as_str())]
    Serve(Box<ServeArgs>),
    /// Load an HTTP or SSE server, and report what it did honestly.
    #[command(after_help = EXIT_CODES.as_str())]
    Bench(Box<BenchArgs>),
    /// Measure what this machine's load generator, clock and timers can do at most.
    #[command(after_help = EXIT_CODES.as_str())]
    Calibrate(CalibrateArgs),
    /// The server that `calibrate` loads: ends with its standard input, or after ten minutes.
    #[command(hide = true)]
    CalibrateServer(CalibrateServerArgs),
}

impl Cli {
    /// Reads the command line and the environment. Prints the help, the version or what is
    /// wrong, and ends the process, where that is the answer.
    pub(crate) fn read() -> Self {
        let matches = quiet(Self::command()).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// The names of variables are printed, never their values: help texts end up in reports.
fn quiet(command: clap::Command) -> clap::Command {
    command.mut_subcommands(|command| command.mut_args(|argument| argument.hide_env_values(true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A limit without a variable could not be set where only the environment can be.
    #[test]
    fn every_option_has_its_variable() {
        let command = quiet(Cli::command());
        let serve = command.find_subcommand("serve").unwrap();
        let options = serve.get_arguments().filter_map(|argument| {
            Some((argument.get_long().filter(|name| *name != "help")?, argument.get_env()))
        });
        for (option, variable) in options {
            let expected = format!("SQUALL_{}", option.to_uppercase().replace('-', "_"));
            assert_eq!(variable.and_then(|name| name.to_str()), Some(&*expected), "--{option}");
        }
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_names_every_exit_code() {
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("serve").unwrap().render_long_help().to_string();
        for exit in Exit::ALL {
            let line = format!("{:>3}  {}", exit.code(), exit.meaning());
            assert!(help.contains(&line), "{line}");
        }
    }
}
