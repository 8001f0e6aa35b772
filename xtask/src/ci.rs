//! `cargo xtask ci`: everything a change must pass, in order, with the time of each step.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{accuracy, crash, real, workspace};

/// The steps, in order. A step that needs real parts is one file in `real` and one line here.
const STEPS: &[Step] = &[
    Step::fast("fmt", |p| p.cargo(&["fmt", "--all", "--check"])),
    Step::fast("clippy", |p| {
        p.cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
    }),
    Step::fast("test", |p| p.cargo(&["test", "--workspace", "--locked"])),
    Step::real("build", |p| p.cargo(&["build", "--release", "--locked"])),
    Step::real("curl", real::curl::run),
    Step::real("ab", real::ab::run),
    Step::real("strace-sync", real::strace_sync::run),
    Step::real("disk-full", real::disk_full::run),
    Step::real("crash", |p| crash::run_rounds(&p.squall, 100, 50, 1).map(|()| Outcome::Passed)),
    Step::real("accuracy", |p| accuracy::run_short(&p.squall).map(|()| Outcome::Passed)),
];

/// What to run.
#[derive(Clone, Debug, clap::Args)]
pub struct CiArgs {
    /// Only formatting, clippy and tests.
    #[arg(long)]
    fast: bool,
    /// Only the named steps.
    #[arg(long, value_name = "STEP", conflicts_with = "fast", value_parser = step_name)]
    only: Vec<String>,
}

/// How a step ended, if not with an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It held.
    Passed,
    /// It could not run here, and why.
    Skipped(String),
}

/// One thing that must hold.
struct Step {
    name: &'static str,
    /// Needs the release binary, and often an extra program or root.
    is_real: bool,
    run: fn(&Programs) -> Result<Outcome>,
}

impl Step {
    const fn fast(name: &'static str, run: fn(&Programs) -> Result<Outcome>) -> Self {
        Self { name, is_real: false, run }
    }

    const fn real(name: &'static str, run: fn(&Programs) -> Result<Outcome>) -> Self {
        Self { name, is_real: true, run }
    }
}

/// What the steps run.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The root of the workspace.
    pub root: PathBuf,
    /// The release binary of `squall`, once it is built.
    pub squall: PathBuf,
}

impl Programs {
    /// Finds the workspace and its target directory.
    ///
    /// # Errors
    /// `cargo metadata` failed.
    pub fn find() -> Result<Self> {
        let target = workspace::metadata()?.target_directory;
        let squall = target.join("release").join("squall").into_std_path_buf();
        Ok(Self { root: workspace::root(), squall })
    }

    /// The binary that was given, or else the release binary, built now.
    ///
    /// # Errors
    /// It could not be built.
    pub fn binary(given: Option<&Path>) -> Result<PathBuf> {
        if let Some(binary) = given {
            return Ok(binary.to_owned());
        }
        let programs = Self::find()?;
        programs.cargo(&["build", "--release", "--locked"])?;
        Ok(programs.squall)
    }

    /// Runs cargo in the workspace.
    ///
    /// # Errors
    /// It could not be run, or failed.
    pub fn cargo(&self, args: &[&str]) -> Result<Outcome> {
        println!("$ cargo {}", args.join(" "));
        let status = Command::new("cargo")
            .args(args)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .status()
            .context("cannot run cargo")?;
        ensure!(status.success(), "cargo {} failed: {status}", args[0]);
        Ok(Outcome::Passed)
    }
}

/// Runs the steps up to the first failure.
///
/// # Errors
/// A step failed.
pub fn run(args: &CiArgs) -> Result<()> {
    let programs = Programs::find()?;
    let chosen = STEPS.iter().filter(|step| match args.only.as_slice() {
        [] => !(args.fast && step.is_real),
        only => only.iter().any(|name| name == step.name),
    });
    let begun = Instant::now();
    let mut rows = Vec::new();
    let mut failure = None;
    for step in chosen {
        let (row, result) = run_step(step, &programs);
        rows.push(row);
        if let Err(error) = result {
            failure = Some(error.context(format!("step {} failed", step.name)));
            break;
        }
    }
    println!("\n{}", table(&rows, begun.elapsed()));
    failure.map_or(Ok(()), Err)
}

struct Row {
    name: &'static str,
    time: Duration,
    outcome: String,
}

fn run_step(step: &Step, programs: &Programs) -> (Row, Result<()>) {
    println!("\n=== {}", step.name);
    let begun = Instant::now();
    let result = (step.run)(programs);
    let time = begun.elapsed();
    let (outcome, result) = match result {
        Ok(Outcome::Passed) => ("passed".to_owned(), Ok(())),
        Ok(Outcome::Skipped(reason)) => {
            println!("!!!\n!!! SKIPPED, so NOT tested: {}: {reason}\n!!!", step.name);
            (format!("SKIPPED: {reason}"), Ok(()))
        }
        Err(error) => ("FAILED".to_owned(), Err(error)),
    };
    println!("=== {}: {outcome} after {:.1} s", step.name, time.as_secs_f64());
    (Row { name: step.name, time, outcome }, result)
}

fn table(rows: &[Row], total: Duration) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max("total".len());
    let line = |name: &str, time: Duration, outcome: &str| {
        format!("{name:width$}  {:>8.1} s  {outcome}", time.as_secs_f64()).trim_end().to_owned()
    };
    let mut lines: Vec<String> =
        rows.iter().map(|row| line(row.name, row.time, &row.outcome)).collect();
    lines.push(line("total", total, ""));
    lines.join("\n")
}

fn step_name(text: &str) -> Result<String> {
    let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    if !names.contains(&text) {
        bail!("one of {}", names.join(", "));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_each_step_and_the_total() {
        let row = |name, seconds: u64, outcome: &str| Row {
            name,
            time: Duration::from_millis(seconds * 1_000 + 250),
            outcome: outcome.to_owned(),
        };
        let rows = [row("fmt", 1, "passed"), row("disk-full", 2, "SKIPPED: not root")];
        let expected = "fmt             1.2 s  passed\n\
            disk-full       2.2 s  SKIPPED: not root\n\
            total           4.0 s";
        assert_eq!(table(&rows, Duration::from_secs(4)), expected);
    }

    #[test]
    fn steps_have_names_of_their_own() {
        let mut names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
        assert!(step_name("crash").is_ok());
        assert!(step_name("crsh").is_err());
    }

    #[test]
    fn a_failing_step_is_a_row_and_an_error() {
        let programs = Programs { root: PathBuf::new(), squall: PathBuf::new() };
        let (row, result) = run_step(&Step::fast("bad", |_| bail!("no")), &programs);
        assert_eq!(row.outcome, "FAILED");
        assert!(result.is_err());
    }
}
