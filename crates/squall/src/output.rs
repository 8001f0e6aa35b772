//! Where results go: standard output, and a file that is there only once it is whole.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::exit::Failure;

/// A file that is there only once it is whole. A device or a pipe is written as it is.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    draft: Option<PathBuf>,
}

impl OutputFile {
    /// Makes sure, before anything is measured, that it can be written.
    pub(crate) fn prepare(path: &Path) -> Result<Self, Failure> {
        Self::start(path)
            .map_err(|error| Failure::usage(format!("--output {}: {error}", path.display())))
    }

    /// Starts a draft beside `path`.
    pub(crate) fn start(path: &Path) -> io::Result<Self> {
        let mut path = path.to_owned();
        match fs::metadata(&path) {
            Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            // A file in the place of `/dev/stdout` would help nobody.
            Ok(there) if !there.is_file() => return Ok(Self { path, draft: None }),
            // What a link leads to is replaced, not the link.
            Ok(_) => path = fs::canonicalize(path)?,
            Err(_) => {}
        }
        let mut draft = path.as_os_str().to_owned();
        draft.push(format!(".{}.tmp", std::process::id()));
        let draft = PathBuf::from(draft);
        fs::write(&draft, b"")?;
        Ok(Self { path, draft: Some(draft) })
    }

    /// Writes it whole.
    pub(crate) fn write(&self, text: &str) -> Result<(), Failure> {
        self.finish(text).with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(())
    }

    /// Writes it whole, for a caller with a sentence of its own.
    pub(crate) fn finish(&self, text: &str) -> io::Result<()> {
        let Some(draft) = &self.draft else {
            return fs::write(&self.path, text);
        };
        fs::write(draft, text)?;
        fs::rename(draft, &self.path)
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(draft) = &self.draft {
            // Gone already, if it was written.
            fs::remove_file(draft).ok();
        }
    }
}

/// Prints a report on standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    // A reader that has gone away has seen what it wanted.
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("cannot print the report").into())
        }
        _ => Ok(()),
    }
}
