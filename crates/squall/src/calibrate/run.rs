//! The order of it: steps, record, cache, report.

use std::io::{self, Write};

use squall_load::host::{clock, files};

use super::machine::Machine;
use super::record::{Calibration, SCHEMA, Step};
use super::steps::{Bench, IDLE_RATE};
use super::{cache, meaning, text};
use crate::cli::{CalibrateArgs, ReportFormat};
use crate::exit::{Exit, Failure};
use crate::output::{OutputFile, print};

/// Measures this machine and reports.
pub(crate) fn calibrate(args: &CalibrateArgs) -> Result<Exit, Failure> {
    files::raise();
    let file = args.output.as_deref().map(OutputFile::prepare).transpose()?;
    let bench = Bench::start(args.seconds)?;
    let (steps, started_at) = bench.run()?;
    let interrupted = bench.interrupt().exit();
    let calibration = record(&bench, steps, started_at, interrupted.is_some());
    let json = json(&calibration)?;
    if interrupted.is_none() {
        keep(&json);
    }
    if let Some(file) = &file {
        file.write(&json)?;
    }
    print(&match args.format {
        ReportFormat::Text => text::of(&calibration),
        ReportFormat::Json if file.is_none() => json,
        ReportFormat::Json => String::new(),
    })?;
    Ok(interrupted.unwrap_or(Exit::Done))
}

fn record(
    bench: &Bench,
    steps: Vec<Step>,
    started_at: Option<String>,
    interrupted: bool,
) -> Calibration {
    let idle = steps.iter().find(|step| step.rate == Some(IDLE_RATE));
    let mut calibration = Calibration {
        schema: SCHEMA.to_owned(),
        started_at,
        interrupted,
        machine: Machine::here(),
        setup: bench.setup().clone(),
        ceilings: steps.iter().filter_map(Step::ceiling).collect(),
        clock_ns: clock::cost_ns(),
        timer_lag: idle.map(|step| step.lag.clone()),
        meaning: Vec::new(),
        steps,
    };
    calibration.meaning = meaning::of(&calibration);
    calibration
}

fn json(calibration: &Calibration) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(calibration).map_err(anyhow::Error::new)?;
    Ok(text + "\n")
}

/// Keeps the ceilings for later benches, which do without them if that fails.
fn keep(json: &str) {
    if let Err(error) = cache::keep(json) {
        // Where nobody reads standard error, the next bench says that it knows no ceiling.
        writeln!(io::stderr(), "squall: the ceilings are not kept for bench: {error}").ok();
    }
}
