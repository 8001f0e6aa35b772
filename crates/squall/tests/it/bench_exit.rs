//! How `squall bench` ends: its exit code is what a script reads.

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use squall_testkit::scripted::{After, Script, ScriptedServer, Service, Step, closed_port, reply};
use squall_testkit::wait::{pause, wait_until};
use tempfile::tempdir;

use crate::bench::{bench, number, parse, server};
use crate::command::{END_MAX, finish, spawn, squall};

fn check(arguments: &[&str], code: i32, stderr: &str) {
    let finished = bench(arguments);
    assert_eq!(finished.code, Some(code), "{arguments:?}: {}", finished.stderr);
    assert!(finished.stderr.contains(stderr), "{arguments:?}: {}", finished.stderr);
    assert_ne!(finished.stdout, "", "{arguments:?}: there is no report");
}

#[test]
fn a_target_that_cannot_be_reached_is_code_3() {
    let port = closed_port();
    let url = format!("http://{}/", port.address());
    check(&["-n", "10", &url], 3, "");
    check(&["-n", "10", "--fail-if", "failed > 0", &url], 3, "not passed: failed > 0");
    let finished = bench(&["-n", "10", "http://name.invalid/"]);
    assert_eq!(finished.code, Some(3), "{}", finished.stderr);
    assert!(finished.stderr.contains("cannot resolve \"name.invalid\""), "{}", finished.stderr);
}

#[test]
fn replies_that_all_fail_the_checks_are_code_3() {
    let broken = ScriptedServer::serve(Service { reply: reply(500, ""), ..Service::default() });
    check(&["-n", "50", &broken.url("/")], 3, "");
    check(&["-n", "50", "--expect-status", "5xx", &broken.url("/")], 0, "");
    let server = server();
    check(&["-n", "50", "--expect-body", "other", &server.url("/")], 3, "");
    check(&["-n", "50", "--expect-body", "ok", "--expect-bytes", "2", &server.url("/")], 0, "");
    check(&["-n", "50", "--expect-body-contains", "k", &server.url("/")], 0, "");
}

#[test]
fn a_followers_only_run_without_an_event_stream_is_code_3() {
    let server = server();
    let url = server.url("/");
    check(&["-c", "0", "-d", "300ms", "--follow", &url, &url], 3, "");
}

#[test]
fn a_condition_that_comes_true_is_code_4() {
    let server = server();
    let url = server.url("/");
    check(&["-n", "100", "--fail-if", "max > 1us", &url], 4, "not passed: max > 1us");
    check(&["-n", "100", "--fail-if", "failed > 0", "--fail-if", "max > 60m", &url], 0, "");
}

/// A threshold that nobody can tell would otherwise pass for ever unnoticed.
#[test]
fn a_condition_that_cannot_be_told_is_code_4() {
    let server = server();
    check(&["-n", "100", "--fail-if", "lost > 0", &server.url("/")], 4, "not passed: lost > 0");
    // Nine requests have no 99th percentile.
    check(&["-n", "9", "--fail-if", "p99 > 60s", &server.url("/")], 4, "not passed: p99 > 60s");
}

#[test]
fn a_signal_ends_the_window_and_the_rest_is_reported() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let server = server();
        let url = server.url("/");
        let child = spawn(squall(&["bench", "--format", "json", "-d", "60s", "-c", "2", &url]));
        assert!(wait_until(END_MAX, || server.record().requests() > 200));
        send(&child, signal);
        let finished = finish(child);
        assert_eq!(finished.code, Some(code), "{}", finished.stderr);
        let record = parse(&finished.stdout);
        assert_eq!(record["window"]["interrupted"], true);
        assert!(number(&record, "/ledger/ok") > 100, "{record:#}");
        assert_eq!(number(&record, "/ledger/sent"), server.stop().requests());
    }
}

#[test]
fn a_second_signal_ends_the_run_at_once_and_the_rest_is_reported() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let silent = [Step::Request, Step::Stall];
        let server = ScriptedServer::start(Script::new().connection(silent, After::Stall));
        let (url, directory) = (server.url("/"), tempdir().unwrap());
        let path = directory.path().join("result.json");
        let load = ["bench", "-d", "60s", "--timeout", "1h", "-c", "2", &url];
        let output = ["--output", path.to_str().unwrap()];
        let child = spawn(squall(&[load.as_slice(), &output].concat()));
        assert!(wait_until(END_MAX, || server.record().requests() == 2));
        send(&child, signal);
        // The same one again at once would be an echo of the first.
        pause(Duration::from_millis(500));
        let begin = Instant::now();
        send(&child, signal);
        let finished = finish(child);
        assert_eq!(finished.code, Some(code), "{}", finished.stderr);
        assert!(begin.elapsed() < Duration::from_secs(5));
        assert!(finished.stdout.contains("2 unanswered"), "{}", finished.stdout);
        let record = parse(&fs::read_to_string(&path).unwrap());
        assert_eq!(number(&record, "/ledger/unanswered"), 2, "{record:#}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "a draft was left behind");
    }
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}
