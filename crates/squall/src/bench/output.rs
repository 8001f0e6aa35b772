//! Where the result goes.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use squall_report::terminal::{self, Style};
use squall_report::{json, thresholds};
use squall_stats::record::BenchRecord;
use squall_stats::threshold::{Judgement, Threshold};

use crate::cli::{ReportArgs, ReportFormat};
use crate::exit::Failure;

/// A file that is there only once it is whole.
pub(super) struct OutputFile {
    path: PathBuf,
    draft: PathBuf,
}

impl OutputFile {
    /// Makes sure, before the run, that it can be written.
    pub(super) fn prepare(path: &Path) -> Result<Self, Failure> {
        let refused =
            |error: io::Error| Failure::usage(format!("--output {}: {error}", path.display()));
        if path.is_dir() {
            return Err(refused(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let mut draft = path.as_os_str().to_owned();
        draft.push(format!(".{}.tmp", std::process::id()));
        let draft = PathBuf::from(draft);
        fs::write(&draft, b"").map_err(refused)?;
        Ok(Self { path: path.to_owned(), draft })
    }

    /// Writes it whole.
    pub(super) fn write(&self, text: &str) -> Result<(), Failure> {
        fs::write(&self.draft, text)
            .and_then(|()| fs::rename(&self.draft, &self.path))
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(())
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // Gone already, if it was written.
        fs::remove_file(&self.draft).ok();
    }
}

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
    let text = match args.format {
        ReportFormat::Text => terminal::bench(record, style) + &thresholds::lines(judged, style),
        ReportFormat::Json if file.is_none() => json::bench(record),
        ReportFormat::Json => String::new(),
    };
    // A reader that has gone away has seen what it wanted.
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("cannot print the report").into())
        }
        _ => Ok(()),
    }
}
