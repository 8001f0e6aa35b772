//! The help is what people read first, and `--version` what they paste into a report.

use insta::assert_snapshot;

use crate::command::{run, squall};

fn help_of(arguments: &[&str]) -> String {
    let finished = run(squall(arguments));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(finished.stderr, "");
    finished.stdout
}

#[test]
fn squall_help() {
    assert_snapshot!(help_of(&["--help"]));
}

#[test]
fn serve_help() {
    assert_snapshot!(help_of(&["serve", "--help"]));
}

#[test]
fn bench_help() {
    assert_snapshot!(help_of(&["bench", "--help"]));
}

#[test]
fn calibrate_help() {
    assert_snapshot!(help_of(&["calibrate", "--help"]));
}

/// The help ends up in reports: what the environment holds must not.
#[test]
fn the_help_shows_no_value_of_a_variable() {
    let mut command = squall(&["serve", "--help"]);
    command.env("SQUALL_DATA", "/home/somebody/secret");
    let finished = run(command);
    assert!(finished.stdout.contains("SQUALL_DATA"));
    assert!(!finished.stdout.contains("secret"), "{}", finished.stdout);
}

/// `squall 0.1.0 (a1b2c3d, SQLite 3.54.1)`
#[test]
fn the_version_names_the_commit_and_sqlite() {
    let line = help_of(&["--version"]);
    let rest = line.strip_prefix(concat!("squall ", env!("CARGO_PKG_VERSION"), " (")).unwrap();
    let (commit, sqlite) = rest.strip_suffix(")\n").unwrap().split_once(", SQLite ").unwrap();
    let is_hash = commit.len() >= 7 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(is_hash || commit == "unknown", "{commit}");
    let numbers: Vec<u32> = sqlite.split('.').map(|number| number.parse().unwrap()).collect();
    assert!(numbers.len() == 3 && numbers[0] == 3, "{sqlite}");
}
