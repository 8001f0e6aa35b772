//! Where the result goes.

use std::io::{self, IsTerminal};

use squall_report::terminal::{self, Style};
use squall_report::{json, thresholds};
use squall_stats::record::BenchRecord;
use squall_stats::threshold::{Judgement, Threshold};

use crate::cli::{ReportArgs, ReportFormat};
use crate::exit::Failure;
use crate::output::{OutputFile, print};

/// Prints the report, and writes the file.
pub(super) fn report(
    args: &ReportArgs,
    record: &BenchRecord,
    judged: &[(Threshold, Judgement)],
    file: Option<&OutputFile>,
) -> Result<(), Failure> {
    if let Some(file) = file {
        file.write(&json::bench(record))?;
    }
    let style = Style { color: io::stdout().is_terminal(), ..Style::default() };
    print(&match args.format {
        ReportFormat::Text => terminal::bench(record, style) + &thresholds::lines(judged, style),
        ReportFormat::Json if file.is_none() => json::bench(record),
        ReportFormat::Json => String::new(),
    })
}
