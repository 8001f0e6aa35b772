//! Where ceilings are kept between a calibration and the benches after it.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::machine::Machine;
use super::record::{Ceiling, SCHEMA};
use crate::output::OutputFile;

/// Below the directory of this user's caches.
const FILE: &str = "squall/calibration.json";

/// Larger than any calibration; what is not ours is not read into memory.
const BYTES_MAX: u64 = 1 << 20;

/// The part of a kept calibration that a bench needs.
#[derive(Debug, Deserialize)]
struct Kept {
    schema: String,
    machine: Machine,
    ceilings: Vec<Ceiling>,
}

/// Verified replies a second that this machine reached with requests pipelined by `pipeline`;
/// `None` if that was not measured with this build.
pub(crate) fn ceiling_of(pipeline: usize) -> Option<f64> {
    find(&read(&path()?)?, &Machine::here(), pipeline)
}

/// Keeps the calibration whose JSON is `json`, and says where.
pub(super) fn keep(json: &str) -> io::Result<PathBuf> {
    let nowhere = || io::Error::other("neither XDG_CACHE_HOME nor HOME names a directory");
    let path = path().ok_or_else(nowhere)?;
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    OutputFile::start(&path)?.finish(json)?;
    Ok(path)
}

/// The place that the XDG Base Directory Specification gives to caches. It is no option: a
/// bench has to find it without being told.
fn path() -> Option<PathBuf> {
    // A relative path is invalid there, and to be ignored.
    let directory = |name| env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let caches = directory("XDG_CACHE_HOME")
        .or_else(|| directory("HOME").map(|home| home.join(".cache")))?;
    Some(caches.join(FILE))
}

/// `None` if there is no such file; a ceiling is a courtesy, and its absence no failure.
fn read(path: &Path) -> Option<String> {
    let size = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
    if size > BYTES_MAX { None } else { fs::read_to_string(path).ok() }
}

fn find(json: &str, machine: &Machine, pipeline: usize) -> Option<f64> {
    let kept: Kept = serde_json::from_str(json).ok()?;
    if kept.schema != SCHEMA || kept.machine != *machine {
        return None;
    }
    let found = kept.ceilings.iter().find(|ceiling| ceiling.pipeline == pipeline)?;
    Some(found.verified_replies_per_second)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn kept() -> Value {
        let ceiling = |pipeline: usize, rate: f64| json!({"pipeline": pipeline, "verified_replies_per_second": rate});
        json!({
            "schema": SCHEMA,
            "machine": Machine::here(),
            "ceilings": [ceiling(1, 40_000.0), ceiling(5, 90_000.5)],
        })
    }

    fn check(kept: &Value, pipeline: usize, expected: Option<f64>) {
        assert_eq!(find(&kept.to_string(), &Machine::here(), pipeline), expected, "{kept}");
    }

    #[test]
    fn a_ceiling_is_found_by_its_depth() {
        check(&kept(), 1, Some(40_000.0));
        check(&kept(), 5, Some(90_000.5));
        check(&kept(), 2, None);
    }

    /// A ceiling of another machine would be a lie.
    #[test]
    fn a_calibration_of_something_else_is_ignored() {
        let other = |pointer: &str, value: Value| {
            let mut kept = kept();
            *kept.pointer_mut(pointer).unwrap() = value;
            check(&kept, 1, None);
        };
        other("/schema", json!("squall.calibration/2"));
        other("/machine/cpu_model", json!("another"));
        other("/machine/cpus_allowed", json!([]));
        other("/machine/kernel", json!("0.0.1"));
        other("/machine/squall", json!("0.0.1"));
        other("/machine/optimized", json!(cfg!(debug_assertions)));
        other("/ceilings", json!("none"));
        check(&json!({}), 1, None);
        assert_eq!(find("", &Machine::here(), 1), None);
    }
}
