//! `cargo xtask crash`: kills a real server amid appends, and compares.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use squall_testkit::crash::{self, CrashOptions, Summary};

use crate::ci::Programs;

/// Violations printed; one cause makes many.
const VIOLATIONS_SHOWN_MAX: usize = 20;

/// What to kill, and how often.
#[derive(Clone, Debug, clap::Args)]
pub struct CrashArgs {
    /// Kills.
    #[arg(long, default_value_t = 100)]
    rounds: u32,
    /// Connections that append, each with one request in flight.
    #[arg(long, default_value_t = 50)]
    connections: u32,
    /// Decides the random choices; timing stays the machine's.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The server's binary; without it the release binary is built and taken.
    #[arg(long)]
    binary: Option<PathBuf>,
}

/// Runs the rounds and prints each.
///
/// # Errors
/// A promise was broken, or the server could not be run.
pub fn run(args: &CrashArgs) -> Result<()> {
    let binary = Programs::binary(args.binary.as_deref())?;
    run_rounds(&binary, args.rounds, args.connections, args.seed)
}

/// The crash test on `binary`, with data in a directory of its own. Where a promise was
/// broken the data is kept.
///
/// # Errors
/// See [`run`].
pub fn run_rounds(binary: &Path, rounds: u32, connections: u32, seed: u64) -> Result<()> {
    let data = tempfile::Builder::new().prefix("squall-crash-").tempdir()?;
    let options = CrashOptions {
        binary: binary.to_owned(),
        data: data.path().join("data"),
        rounds,
        connections,
        seed,
    };
    let result = crash::run(&options, |report| {
        let verdict = &report.verdict;
        println!(
            "round {}: {} acked, {} refused, {} unknown of which {} present",
            report.round, verdict.acked, verdict.refused, verdict.unknown, verdict.unknown_present
        );
    });
    let judged = result.context("the crash test broke off").and_then(|summary| judge(&summary));
    judged.inspect_err(|_| println!("seed {seed}, data kept in {}", data.keep().display()))
}

fn judge(summary: &Summary) -> Result<()> {
    println!(
        "{} rounds: {} acked, {} refused, {} unknown of which {} present, {} violations",
        summary.rounds,
        summary.acked,
        summary.refused,
        summary.unknown,
        summary.unknown_present,
        summary.violations.len()
    );
    for violation in summary.violations.iter().take(VIOLATIONS_SHOWN_MAX) {
        println!("violation: {violation}");
    }
    match summary.violations.len() {
        0 if summary.acked == 0 => bail!("nothing was acked, so nothing was tested"),
        0 => Ok(()),
        count => bail!("{count} promises broken"),
    }
}
