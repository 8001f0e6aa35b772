//! The order of it: options, plan, run, report, exit code.

use std::io::{self, Write};

use squall_load::host::files;
use squall_load::plan::{LoadPlan, PlanError};
use squall_load::run::{About, RunError, RunHandle, run};
use squall_stats::record::BenchRecord;
use squall_stats::threshold::{Judgement, Threshold};

use super::live::Live;
use super::output;
use super::spec;
use crate::calibrate::ceiling_of;
use crate::cli::{BenchArgs, VERSION};
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::OutputFile;

/// Loads a server and reports.
pub(crate) fn bench(args: &BenchArgs) -> Result<Exit, Failure> {
    let spec = spec::spec(args)?;
    files::raise();
    let plan = LoadPlan::build(&spec).map_err(plan_failure)?;
    let file = args.report.output.as_deref().map(OutputFile::prepare).transpose()?;
    let handle = RunHandle::new();
    let interrupt = Interrupt::ends(&handle)?;
    let ceiling_per_second = ceiling_of(plan.pipeline).filter(|_rate| plan.connections > 0);
    let about = About { squall: VERSION.clone(), ceiling_per_second };
    let mut live = Live::new(args.report.progress);
    let ended = run(&plan, &about, &handle, &mut |now| live.show(now));
    live.clear();
    let mut record = ended.map_err(run_failure)?;
    record.summary.sentence = squall_report::sentence(&record);
    let judged: Vec<(Threshold, Judgement)> = args
        .report
        .fail_if
        .iter()
        .map(|threshold| (*threshold, threshold.judge(&record)))
        .collect();
    output::report(&args.report, &record, &judged, file.as_ref())?;
    Ok(exit_of(&record, &judged, interrupt.exit()))
}

/// What the process ends with.
fn exit_of(
    record: &BenchRecord,
    judged: &[(Threshold, Judgement)],
    interrupted: Option<Exit>,
) -> Exit {
    if let Some(exit) = interrupted {
        return exit;
    }
    let has_followed = record.followers.as_ref().is_some_and(|seen| seen.established > 0);
    let is_followers_only = record.load.connections == 0;
    let has_result = if is_followers_only { has_followed } else { record.ledger.ok > 0 };
    let missed = judged.iter().filter(|(_, it)| !matches!(it, Judgement::Passed { .. }));
    let missed: Vec<String> = missed.map(|(threshold, _)| threshold.to_string()).collect();
    if !missed.is_empty() {
        // For whoever sees the log of a job only; the report has the numbers.
        writeln!(io::stderr(), "squall: not passed: {}", missed.join(", ")).ok();
    }
    match (has_result, missed.is_empty()) {
        (false, _) => Exit::Unreachable,
        (true, false) => Exit::ThresholdMissed,
        (true, true) => Exit::Done,
    }
}

fn plan_failure(error: PlanError) -> Failure {
    let exit = match &error {
        PlanError::Resolve { .. } | PlanError::NoAddress { .. } => Exit::Unreachable,
        _ => Exit::Usage,
    };
    Failure::new(exit, error)
}

fn run_failure(error: RunError) -> Failure {
    let exit = match &error {
        RunError::Unreachable { .. } => Exit::Unreachable,
        RunError::Server(_) | RunError::Worker(squall_load::run::WorkerError::Pin(_)) => {
            Exit::Usage
        }
        _ => Exit::Other,
    };
    Failure::new(exit, error)
}
