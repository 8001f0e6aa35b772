//! `kill -9` amid appends from 50 connections. `cargo xtask crash` runs more rounds.

use std::path::Path;

use squall_testkit::crash::{self, CrashOptions};

/// Every acked event is there, once, in order; no refused one is; an unknown one is there
/// once or not at all; a producer's retry is never a conflict and never a second event.
#[test]
fn a_killed_server_keeps_what_it_acked() {
    let directory = tempfile::tempdir().unwrap();
    let options = CrashOptions {
        binary: Path::new(env!("CARGO_BIN_EXE_squall")).to_owned(),
        data: directory.path().join("data"),
        rounds: 10,
        connections: 50,
        seed: 1,
    };
    let summary = match crash::run(&options, |_| {}) {
        Ok(summary) => summary,
        Err(error) => panic!("the test broke off: {error:#?}"),
    };
    assert!(summary.violations.is_empty(), "broken promises: {:#?}", summary.violations);
    assert_eq!(summary.rounds, 10);
    assert!(summary.acked > 0, "nothing was acked, so nothing was tested: {summary:?}");
}
