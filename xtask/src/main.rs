//! `cargo xtask`: the one entry for everything that is not a test.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use xtask::{accuracy, ci, crash, tidy};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The gate and the toolbox of the project")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything a change must pass.
    Ci(ci::CiArgs),
    /// Checks file sizes, texts and the arrows between crates.
    Tidy,
    /// Kills a server amid appends, again and again, and compares.
    Crash(crash::CrashArgs),
    /// Compares what the generator measures with what a scripted server recorded.
    Accuracy(accuracy::AccuracyArgs),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Ci(args) => ci::run(&args),
        Command::Tidy => tidy::run(),
        Command::Crash(args) => crash::run(&args),
        Command::Accuracy(args) => accuracy::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Not `{:?}`, which would add a backtrace where one is asked for.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
