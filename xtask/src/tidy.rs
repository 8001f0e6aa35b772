//! `cargo xtask tidy`: holds the project to its own rules.

use std::fs;

use anyhow::{Context as _, Result, ensure};

use crate::{arrows, files, workspace};

/// Checks everything and prints what is wrong.
///
/// # Errors
/// Something is wrong, or the workspace cannot be read.
pub fn run() -> Result<()> {
    let mut problems = check_files()?;
    problems.extend(check_arrows()?);
    for problem in &problems {
        println!("{problem}");
    }
    ensure!(problems.is_empty(), "{} problems", problems.len());
    println!("tidy");
    Ok(())
}

/// What is wrong with the files of the workspace.
///
/// # Errors
/// The workspace cannot be read.
pub fn check_files() -> Result<Vec<String>> {
    let root = workspace::root();
    let mut problems = Vec::new();
    for path in workspace::project_files(&root)? {
        let bytes = fs::read(root.join(&path)).with_context(|| path.display().to_string())?;
        // What is not text has no lines to check.
        let text = String::from_utf8(bytes).unwrap_or_default();
        problems.extend(files::check(&path.to_string_lossy(), &text));
    }
    Ok(problems)
}

/// What is wrong with the dependencies of the workspace.
///
/// # Errors
/// The workspace cannot be read.
pub fn check_arrows() -> Result<Vec<String>> {
    let metadata = workspace::metadata()?;
    let graph = arrows::Graph::from_metadata(&metadata).context("metadata without resolution")?;
    Ok(arrows::check(&graph))
}
