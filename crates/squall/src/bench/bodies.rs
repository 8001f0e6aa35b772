//! The bodies of requests.

use std::fs;
use std::path::Path;

use squall_load::spec::BodySpec;

use crate::cli::RequestArgs;
use crate::exit::Failure;

/// Largest file that is sent as a body.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Largest file of lines: each becomes a request of its own in memory.
const LINES_BYTES_MAX: u64 = 256 << 20;

/// The body that the options ask for.
pub(super) fn body(args: &RequestArgs) -> Result<BodySpec, Failure> {
    if let Some(text) = &args.body {
        return Ok(BodySpec::Text(text.clone()));
    }
    if let Some(bytes) = args.body_stamp {
        return Ok(BodySpec::Stamp(bytes));
    }
    if let Some(path) = &args.body_file {
        return Ok(BodySpec::Bytes(read("--body-file", path, FILE_BYTES_MAX)?));
    }
    let Some(path) = &args.body_lines else {
        return Ok(BodySpec::None);
    };
    let bytes = read("--body-lines", path, LINES_BYTES_MAX)?;
    let text = String::from_utf8(bytes).map_err(|_invalid| {
        Failure::usage(format!("--body-lines {}: not UTF-8", path.display()))
    })?;
    Ok(BodySpec::Lines(text.lines().map(str::to_owned).collect()))
}

fn read(option: &str, path: &Path, bytes_max: u64) -> Result<Vec<u8>, Failure> {
    let refused = |reason: String| Failure::usage(format!("{option} {}: {reason}", path.display()));
    let length = fs::metadata(path).map_err(|error| refused(error.to_string()))?.len();
    if length > bytes_max {
        let limit = bytes_max >> 20;
        return Err(refused(format!("it has {length} bytes, and {limit} MiB are the most")));
    }
    fs::read(path).map_err(|error| refused(error.to_string()))
}
