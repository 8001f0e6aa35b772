//! Where the workspace is, and which files belong to it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::{Metadata, MetadataCommand};

/// The root of the workspace that this crate was built from.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The resolved packages of the workspace on this platform.
pub(crate) fn metadata() -> Result<Metadata> {
    let platform = host_triple()?;
    MetadataCommand::new()
        .current_dir(root())
        .other_options(["--locked".to_owned(), "--filter-platform".to_owned(), platform])
        .exec()
        .context("cargo metadata")
}

fn host_triple() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("rustc -vV")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}

/// Paths of all project files, relative to `root`: what git tracks, or without git what is
/// there.
pub(crate) fn project_files(root: &Path) -> Result<Vec<PathBuf>> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output();
    let mut files = match listed {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.split_terminator('\0').map(PathBuf::from).collect()
        }
        _ => {
            let mut found = Vec::new();
            walk(root, Path::new(""), &mut found)?;
            found
        }
    };
    files.retain(|path| root.join(path).is_file());
    ensure!(!files.is_empty(), "no files under {}", root.display());
    files.sort();
    Ok(files)
}

fn walk(root: &Path, below: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        let skipped = [".git", "target", "node_modules", "squall-data"];
        if !entry.file_type()?.is_dir() {
            found.push(path);
        } else if !skipped.iter().any(|name| entry.file_name() == OsStr::new(name)) {
            walk(root, &path, found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_without_git_is_walked() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("a/target")).unwrap();
        fs::write(directory.path().join("a/one.rs"), "").unwrap();
        fs::write(directory.path().join("a/target/two.rs"), "").unwrap();
        let mut found = Vec::new();
        walk(directory.path(), Path::new(""), &mut found).unwrap();
        assert_eq!(found, [PathBuf::from("a/one.rs")]);
    }
}
