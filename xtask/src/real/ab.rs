//! `ab -n 1000 -c 100`, GET and POST, as the note that this server answers used it.

use std::fs;

use anyhow::{Context as _, Result, ensure};

use super::setup::{Fresh, is_installed, output_of};
use crate::ci::{Outcome, Programs};

/// Requests of one run.
const REQUESTS: u32 = 1_000;

/// Loads a fresh server with `ab`, with and without keep-alive; nothing may fail.
///
/// # Errors
/// A request failed, or the server could not be run.
pub fn run(programs: &Programs) -> Result<Outcome> {
    if !is_installed("ab") {
        return Ok(Outcome::Skipped("ab is not installed (apache2-utils)".to_owned()));
    }
    let mut fresh = Fresh::start(&programs.squall)?;
    let directory = tempfile::tempdir()?;
    let body = directory.path().join("body");
    fs::write(&body, "an event of some length, posted again and again")?;
    let body = body.to_str().context("the temporary path is not text")?;
    let url = fresh.url("/");
    let requests = REQUESTS.to_string();
    let base = ["-q", "-n", &requests, "-c", "100"];
    // POST first: GET then has an event to return.
    let post = ["-p", body, "-T", "text/plain", &url];
    check("POST", &[&base[..], &post].concat())?;
    check("POST, keep-alive", &[&base[..], &["-k"], &post].concat())?;
    check("GET", &[&base[..], &[&url]].concat())?;
    check("GET, keep-alive", &[&base[..], &["-k", &url]].concat())?;
    fresh.stop()?;
    Ok(Outcome::Passed)
}

fn check(what: &str, args: &[&str]) -> Result<()> {
    let report = output_of("ab", args)?;
    judge(&report, REQUESTS).with_context(|| report.clone())?;
    let rate = field(&report, "Requests per second:").unwrap_or_default();
    let slowest = field(&report, "100%").unwrap_or_default();
    println!("{what}: {rate} requests a second, slowest {slowest} ms");
    Ok(())
}

/// All requests completed, none failed, and every answer was 2xx.
fn judge(report: &str, requests: u32) -> Result<()> {
    let complete = field(report, "Complete requests:");
    ensure!(complete == Some(&requests.to_string()), "complete: {complete:?} of {requests}");
    let failed = field(report, "Failed requests:");
    ensure!(failed == Some("0"), "failed: {failed:?}");
    let other = field(report, "Non-2xx responses:");
    ensure!(other.is_none(), "answers that are not 2xx: {other:?}");
    Ok(())
}

/// The first word behind `name` at the start of a line.
fn field<'a>(report: &'a str, name: &str) -> Option<&'a str> {
    let rest = report.lines().find_map(|line| line.trim_start().strip_prefix(name))?;
    rest.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "Complete requests:      1000\nFailed requests:        0\n\
        Requests per second:    5123.45 [#/sec] (mean)\n  50%     10\n 100%     41 (longest request)\n";

    #[test]
    fn failures_and_other_answers_are_found() {
        assert!(judge(GOOD, 1_000).is_ok());
        assert_eq!(field(GOOD, "100%"), Some("41"));
        let check = |from: &str, to: &str| {
            assert!(judge(&GOOD.replace(from, to), 1_000).is_err(), "{to}");
        };
        check("1000", "999");
        check("Failed requests:        0", "Failed requests:        3");
        check("Requests per", "Non-2xx responses:      1000\nRequests per");
    }
}
