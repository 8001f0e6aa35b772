//! Where the result goes.

use std::env;
use std::io::{self, IsTerminal as _};

use rustix::termios::tcgetwinsize;
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
    let style = style();
    print(&match args.format {
        ReportFormat::Text => terminal::bench(record, style) + &thresholds::lines(judged, style),
        ReportFormat::Json if file.is_none() => json::bench(record),
        ReportFormat::Json => String::new(),
    })
}

/// As wide as the terminal, in colours unless the user has asked all programs for none.
fn style() -> Style {
    let stdout = io::stdout();
    let plain = Style::default();
    if !stdout.is_terminal() {
        return plain;
    }
    let columns = tcgetwinsize(&stdout).map_or(0, |size| size.ws_col);
    Style {
        color: env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        // A terminal that does not know its width says 0.
        width: if columns == 0 { plain.width } else { columns },
    }
}
