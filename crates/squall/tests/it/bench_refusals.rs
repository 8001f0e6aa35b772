//! Benches that cannot be: code 2 before anything is sent, and a sentence that says what to write.

use std::fs;

use tempfile::tempdir;

use crate::bench::bench;

const URL: &str = "http://127.0.0.1:9/";

/// The sentences are compared without the line breaks that the terminal's width makes.
fn check(arguments: &[&str], expected: &str) {
    let finished = bench(arguments);
    let sentence = finished.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(finished.code, Some(2), "{arguments:?}: {sentence}");
    assert!(sentence.contains(expected), "{arguments:?}: {sentence}");
    assert_eq!(finished.stdout, "", "{arguments:?}");
}

fn check_options(options: &[&str], expected: &str) {
    check(&[options, &[URL]].concat(), expected);
}

#[test]
fn a_bad_url_is_told_how_to_write_one() {
    check(&[], "<URL>");
    check(&["localhost:8080"], "write http://localhost:8080");
    check(&["ftp://localhost/"], "only http:// and https:// can be loaded");
    check(&["http://me:secret@localhost/"], "write --basic-auth USER:PASSWORD instead");
    check(&[URL, "http://127.0.0.1:10/"], "are different servers");
    check(&[URL, "https://127.0.0.1:9/"], "are different servers");
}

#[test]
fn a_load_that_contradicts_itself_is_refused() {
    check_options(&["-n", "10", "-d", "10s"], "cannot be used with");
    check_options(&["-n", "0"], "too small; write at least 1");
    check_options(&["-d", "10"], "such as 500ms");
    check_options(&["-c", "2", "-t", "3"], "write at most --threads 2");
    check_options(&["-c", "0"], "no connections and no followers");
    check_options(&["-c", "0", "-n", "5", "--follow", URL], "write --duration");
    check_options(&["-c", "0", "-R", "5", "--follow", URL], "leave --rate and --arrivals out");
    check_options(&["-P", "2", "--no-keepalive"], "cannot be used with");
    check_options(&["--warm-up", "soon"], "or steady");
    check_options(&["--pin-generator", "3-1"], "ends before it starts");
}

#[test]
fn a_bad_schedule_is_told_how_to_write_one() {
    check_options(&["-R", "fast"], "write requests a second");
    check_options(&["-R=-5"], "is no arrival rate");
    check_options(&["-R", "0"], "is no arrival rate");
    check_options(&["--arrivals", "poisson"], "add --rate R");
    check_options(&["-R", "10", "--arrivals", "bursts"], "write constant, poisson, or ramp:A..B");
    check_options(&["-R", "10", "--arrivals", "ramp:1..5"], "leave --rate out");
    check_options(&["-n", "10", "--arrivals", "ramp:1..5"], "write --duration");
}

#[test]
fn a_request_that_cannot_be_sent_is_refused() {
    check_options(&["--weights", "1,2"], "--weights has 2 numbers for 1 URLs; write one for each");
    check_options(&["-b", "a", "--body-stamp", "100"], "cannot be used with");
    check_options(&["-b", "a", "-f", "b"], "cannot be used with");
    check_options(&["--body-stamp", "8"], "too small; write at least");
    check_options(&["-f", "/no/such/file"], "--body-file /no/such/file: No such file");
    check_options(&["--body-lines", "/no/such/file"], "--body-lines /no/such/file: No such file");
    check_options(&["-H", "Accept"], "write a name, a colon and a value");
    check_options(&["-H", "Content Type: x"], "cannot be sent");
    check_options(&["--basic-auth", "me"], "a name, a colon and a password");
    check_options(&["--basic-auth", "a:b", "--bearer", "c"], "cannot be used with");
    check_options(&["--bearer", "a", "-H", "authorization: b"], "leave out the one of --header");
    check_options(&["-X", "post"], "write POST");
    check(&["get,http://127.0.0.1:9/"], "write GET");
}

#[test]
fn lines_that_are_none_are_refused() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("lines");
    fs::write(&path, "").unwrap();
    check_options(&["--body-lines", path.to_str().unwrap()], "no lines to send as bodies");
    fs::write(&path, b"\xff\n").unwrap();
    check_options(&["--body-lines", path.to_str().unwrap()], "not UTF-8");
}

#[test]
fn a_bad_check_is_told_how_to_write_one() {
    check_options(&["--expect-status", "2x"], "write a status from 100 to 599, or a class");
    check_options(&["--expect-bytes", "few"], "write a whole number of bytes");
    check_options(&["--fail-if", "p99"], "has no operator");
    check_options(&["--fail-if", "p98 > 1ms"], "is no metric; there are p50");
    check_options(&["--fail-if", "p99 = 1ms"], "p99");
    check_options(&["--fail-if", "p99 > fast"], "is no value for p99");
}

#[test]
fn followers_need_something_to_follow() {
    check_options(&["--followers", "3"], "--follow <URL>");
    check_options(&["--slow-followers", "3"], "--follow <URL>");
    check_options(&["--follow", "localhost:8080/stream"], "write http://localhost:8080/stream");
}

#[test]
fn a_way_to_the_server_that_is_none_is_refused() {
    check_options(&["--connect-to", "localhost"], "such as 127.0.0.1:8080");
    check_options(&["--connect-to", "127.0.0.1:1", "--unix-socket", "/s"], "cannot be used with");
    check_options(&["--ca", "/f", "--tls-insecure"], "cannot be used with");
    check(&["--ca", "/no/such/file", "https://127.0.0.1:9/"], "certificates in PEM");
    check_options(&["-4", "-6"], "cannot be used with");
    check_options(&["--server-pid", "0"], "invalid");
}

/// A run of ten minutes whose result cannot be written is ten minutes lost.
#[test]
fn a_file_that_cannot_be_written_is_refused_before_the_run() {
    check_options(&["--output", "/no/such/directory/r.json"], "--output /no/such/directory/r.json");
    let directory = tempdir().unwrap();
    check_options(&["--output", directory.path().to_str().unwrap()], "is a directory");
}
