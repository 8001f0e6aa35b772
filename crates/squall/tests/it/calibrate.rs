//! `squall calibrate` as a process, and the server that it loads.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use squall_load::host::cpus;
use squall_testkit::http::{Request, call};
use squall_testkit::wait::wait_until;
use tempfile::tempdir;

use crate::bench::{parse, server};
use crate::command::{END_MAX, finish, run, spawn, squall};

/// `squall calibrate` with caches in `caches`.
fn calibrate(caches: &Path, options: &[&str]) -> Command {
    let mut command = squall(&[&["calibrate"], options].concat());
    command.env("XDG_CACHE_HOME", caches);
    command
}

#[test]
fn a_calibration_is_printed_and_kept_for_bench() {
    let caches = tempdir().unwrap();
    let file = caches.path().join("result.json");
    let output = file.to_str().unwrap();
    let finished = run(calibrate(caches.path(), &["--seconds", "0.1", "--output", output]));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(finished.stderr, "");
    for text in ["closed, pipelined by 16", "open at 80 % of closed", "open at 1,000/s", "Clock: "]
    {
        assert!(finished.stdout.contains(text), "{text}: {}", finished.stdout);
    }
    let result = fs::read_to_string(&file).unwrap();
    let kept = fs::read_to_string(caches.path().join("squall/calibration.json")).unwrap();
    assert_eq!(result, kept);
    let result = parse(&result);
    check_record(&result);
    let ceiling = |depth: &str| ceiling_in_bench(caches.path(), depth);
    let expected = |index: usize| &result["ceilings"][index]["verified_replies_per_second"];
    assert_eq!(ceiling("1"), *expected(0));
    assert_eq!(ceiling("5"), *expected(1));
    assert_eq!(ceiling("16"), *expected(2));
    assert_eq!(ceiling("2"), Value::Null, "no calibration has that depth");
}

fn check_record(record: &Value) {
    assert_eq!(record["schema"], "squall.calibration/1");
    assert_eq!(record["interrupted"], false);
    assert!(record["clock_ns"].as_f64().unwrap() > 0.0);
    assert!(record["timer_lag"]["p50"].as_u64().is_some(), "{record:#}");
    assert_eq!(record["meaning"].as_array().unwrap().len(), 4);
    let steps = record["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 6);
    for step in steps {
        assert!(step["verified_replies_per_second"].as_f64().unwrap() > 0.0, "{step:#}");
        assert!(step["generator_cpu_per_request_ns"].as_f64().unwrap() > 0.0, "{step:#}");
        assert!(step["server_cpu_per_reply_ns"].as_f64().is_some(), "{step:#}");
        assert_eq!(step["failed"], 0, "{step:#}");
    }
    assert_eq!(steps[5]["rate"], 1_000.0);
}

/// The ceiling that a bench with caches in `caches` reports.
fn ceiling_in_bench(caches: &Path, depth: &str) -> Value {
    let server = server();
    let url = server.url("/");
    let mut command = squall(&["bench", "--format", "json", "-n", "50", "-P", depth, &url]);
    command.env("XDG_CACHE_HOME", caches);
    parse(&run(command).stdout)["generator"]["ceiling_per_second"].clone()
}

#[test]
fn a_calibration_that_cannot_be_kept_is_still_printed() {
    let finished = run(squall(&["calibrate", "--seconds", "0.1", "--format", "json"]));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stderr.contains("the ceilings are not kept"), "{}", finished.stderr);
    check_record(&parse(&finished.stdout));
}

#[test]
fn a_signal_ends_a_calibration_which_reports_what_it_has() {
    let caches = tempdir().unwrap();
    let child = spawn(calibrate(caches.path(), &["--seconds", "60", "--format", "json"]));
    // Once its server runs, it hears signals.
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let has_server = || fs::read_to_string(&children).is_ok_and(|pids| !pids.is_empty());
    assert!(wait_until(END_MAX, has_server));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let finished = finish(child);
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    assert_eq!(parse(&finished.stdout)["interrupted"], true);
    assert!(!caches.path().join("squall").exists(), "half a calibration was kept");
}

#[test]
fn options_that_cannot_be_are_refused() {
    let caches = tempdir().unwrap();
    let check = |options: &[&str], expected: &str| {
        let finished = run(calibrate(caches.path(), options));
        assert_eq!(finished.code, Some(2), "{options:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(expected), "{options:?}: {}", finished.stderr);
    };
    check(&["--seconds", "0"], "write seconds from 0.1 to 60");
    check(&["--format", "xml"], "[possible values: text, json]");
    check(&["--output", "/no/such/directory/r"], "--output /no/such/directory/r");
}

/// Whoever starts it needs no signal to end it, and cannot leave it behind by a crash.
#[test]
fn the_server_lives_as_long_as_its_input_is_open() {
    let cpu = cpus::allowed()[0].to_string();
    let mut command = squall(&["calibrate-server", "--pin", &cpu]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("http://").unwrap().strip_suffix("/\n").unwrap();
    let reply = call(address.parse().unwrap(), &Request::new("GET", "/")).unwrap();
    assert_eq!((reply.status, reply.text()), (200, "Hello, world!".to_owned()));
    drop(child.stdin.take());
    let finished = finish(child);
    assert_eq!((finished.code, &*finished.stderr), (Some(0), ""));
}
