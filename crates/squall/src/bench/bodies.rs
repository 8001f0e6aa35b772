//! The bodies of requests.

use std::fs::File;
use std::io::{self, Read as _};
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
    let refused = |reason: &str| Failure::usage(format!("{option} {}: {reason}", path.display()));
    let failed = |error: io::Error| refused(&error.to_string());
    let too_long = || refused(&format!("longer than {} MiB, the most", bytes_max >> 20));
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() > bytes_max {
        return Err(too_long());
    }
    // A pipe or a device does not tell its length, and may have no end.
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > bytes_max { Err(too_long()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn check_refused(path: &str, expected: &str) {
        let failure = read("--body-file", Path::new(path), MIB).unwrap_err();
        assert_eq!(failure.error.to_string(), expected);
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("body");
        for length in [0, 1, MIB] {
            File::create(&path).unwrap().set_len(length).unwrap();
            assert_eq!(read("-f", &path, MIB).unwrap().len() as u64, length);
        }
        File::create(&path).unwrap().set_len(MIB + 1).unwrap();
        let path = path.to_str().unwrap();
        check_refused(path, &format!("--body-file {path}: longer than 1 MiB, the most"));
    }

    #[test]
    fn a_device_without_an_end_is_refused() {
        check_refused("/dev/zero", "--body-file /dev/zero: longer than 1 MiB, the most");
    }
}
