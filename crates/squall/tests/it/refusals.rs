//! Command lines that cannot be obeyed: code 2, and a sentence that says what to write.

use crate::command::{run, serve_and_end, squall};

/// The sentences are compared without the line breaks that the terminal's width makes.
fn check(options: &[&str], expected: &str) {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let finished = serve_and_end(&data, options);
    let sentence = finished.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(finished.code, Some(2), "{options:?}: {sentence}");
    assert!(sentence.contains(expected), "{options:?}: {sentence}");
    assert_eq!(finished.stdout, "");
    assert!(!data.exists(), "{options:?}: the data was touched");
}

#[test]
fn a_public_address_has_to_be_asked_for() {
    let finished = run(squall(&["serve", "--listen", "0.0.0.0:0"]));
    assert_eq!(finished.code, Some(2));
    assert!(finished.stderr.contains("add --allow-anonymous"), "{}", finished.stderr);
    assert!(finished.stderr.contains("authentication comes in a later version"));
}

#[test]
fn a_bad_size_is_told_how_to_write_one() {
    check(&["--event-bytes-max", "lots"], "such as 64MiB");
    check(&["--event-bytes-max", "16MB"], "write MiB for 1048576 bytes");
    check(&["--event-bytes-max", "0"], "too small; write at least 1");
    check(&["--head-bytes-max", "4KiB"], "too small; write at least 8KiB");
    check(&["--ring-bytes", "9TiB"], "too large; write at most 1GiB");
}

#[test]
fn a_bad_duration_is_told_how_to_write_one() {
    check(&["--heartbeat", "15"], "such as 500ms, 15s, 2m or 7days");
    check(&["--heartbeat", "0s"], "too short; write at least 1s");
    check(&["--body-timeout", "9days"], "too long; write at most 1h");
}

#[test]
fn a_bad_count_is_told_how_to_write_one() {
    check(&["--append-queue-max", "0"], "too small; write at least 1");
    check(&["--readers", "many"], "write a whole number, such as 100");
    check(&["--threads", "0"], "too small; write at least 1");
}

#[test]
fn a_bad_origin_is_told_how_to_write_one() {
    check(&["--cors-origin", "app.example"], "write scheme://host or scheme://host:port");
    check(&["--cors-origin", "https://app.example/path"], "is no origin");
    check(&["--host", "http://app.example"], "write a host name alone");
}

#[test]
fn bad_words_are_refused() {
    check(&["--durability", "maybe"], "[possible values: full, normal]");
    check(&["--log", "verbose"], "\"verbose\" is no level");
    check(&["--no-such-option"], "unexpected argument");
}

#[test]
fn limits_that_contradict_each_other_are_refused() {
    check(&["--page-bytes-max", "100MiB"], "--pages-bytes-max is 64MiB, less than the 100MiB");
}

#[test]
fn a_variable_is_an_option() {
    let mut command = squall(&["serve"]);
    command.env("SQUALL_LISTEN", "localhost");
    let finished = run(command);
    assert_eq!(finished.code, Some(2));
    assert!(finished.stderr.contains("such as 127.0.0.1:8080"), "{}", finished.stderr);
}
