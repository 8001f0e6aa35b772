//! `squall bench` as a process: what it prints, and where.

use std::fs;

use serde_json::Value;
use squall_testkit::scripted::{ScriptedServer, Service, reply};
use tempfile::tempdir;

use crate::command::{Finished, finish, run, spawn, squall};

/// Runs `squall bench …`.
pub(crate) fn bench(arguments: &[&str]) -> Finished {
    run(squall(&[&["bench"], arguments].concat()))
}

/// The record that a bench printed as JSON, of a run that ended with code 0.
pub(crate) fn record(arguments: &[&str]) -> Value {
    let finished = bench(&[&["--format", "json"], arguments].concat());
    assert_eq!(finished.code, Some(0), "{arguments:?}: {}", finished.stderr);
    assert_eq!(finished.stderr, "", "{arguments:?}");
    parse(&finished.stdout)
}

/// JSON as a value.
pub(crate) fn parse(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// The whole number at a path such as `/ledger/sent`.
pub(crate) fn number(record: &Value, path: &str) -> u64 {
    let found = record.pointer(path).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("no number at {path} in {record:#}"))
}

/// A server that answers everything at once with `ok`.
pub(crate) fn server() -> ScriptedServer {
    ScriptedServer::serve(Service { reply: reply(200, "ok"), ..Service::default() })
}

#[test]
fn a_number_of_requests_is_sent_to_the_request() {
    let more: [&[&str]; 4] =
        [&[], &["-P", "5"], &["-R", "5000"], &["-c", "4", "--requests-per-connection", "7"]];
    for options in more {
        let server = server();
        let record = record(&[&["-n", "1000", &server.url("/")], options].concat());
        for path in ["/ledger/scheduled", "/ledger/sent", "/ledger/ok", "/status_codes/200"] {
            assert_eq!(number(&record, path), 1_000, "{options:?} {path}");
        }
        for path in ["/ledger/missed", "/ledger/failed", "/ledger/unanswered", "/warm_up/sent"] {
            assert_eq!(number(&record, path), 0, "{options:?} {path}");
        }
        assert_eq!(server.stop().requests(), 1_000, "{options:?}");
    }
}

#[test]
fn the_json_has_what_programs_read() {
    let server = server();
    let record = record(&["-d", "300ms", "-R", "20000", "-c", "8", &server.url("/")]);
    assert_eq!(record["schema"], "squall.bench/1");
    assert!(record["summary"]["verified_replies_per_second"].as_f64().unwrap() > 0.0);
    assert!(!record["summary"]["sentence"].as_str().unwrap().is_empty());
    for time in ["response", "service"] {
        for key in ["p50", "p90", "p99", "p999", "max", "mean", "count"] {
            let value = record["latency"][time].get(key);
            assert!(value.is_some(), "{time}.{key}");
        }
        let count = number(&record, &format!("/latency/{time}/count"));
        assert_eq!(count, number(&record, "/ledger/ok"), "{time}");
    }
    assert_eq!(record["generator"]["ceiling_per_second"], Value::Null, "nothing was calibrated");
    let sum: u64 = ["ok", "failed", "unanswered"]
        .iter()
        .map(|column| number(&record, &format!("/ledger/{column}")))
        .sum();
    assert_eq!(sum, number(&record, "/ledger/sent"));
}

#[test]
fn the_report_is_text_unless_asked_otherwise() {
    let server = server();
    let finished = bench(&["-n", "200", &server.url("/")]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stdout.contains("200"), "{}", finished.stdout);
    assert!(!finished.stdout.contains('\x1b'), "no colours in a pipe: {}", finished.stdout);
    assert_eq!(finished.stderr, "", "no live line without a terminal");
}

#[test]
fn the_result_goes_to_a_file_and_the_text_to_the_terminal() {
    let server = server();
    let directory = tempdir().unwrap();
    let path = directory.path().join("result.json");
    fs::write(&path, "an older result").unwrap();
    let output = ["--output", path.to_str().unwrap(), "-n", "50", &server.url("/")];
    let finished = bench(&output);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(serde_json::from_str::<Value>(&finished.stdout).is_err(), "it is text");
    assert_eq!(number(&parse(&fs::read_to_string(&path).unwrap()), "/ledger/ok"), 50);

    let finished = bench(&[&["--format", "json"], output.as_slice()].concat());
    assert_eq!((finished.code, &*finished.stdout), (Some(0), ""), "{}", finished.stderr);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "a draft was left behind");
}

/// Whoever links a result to another place wants it there.
#[test]
fn the_result_goes_where_a_link_leads() {
    let server = server();
    let directory = tempdir().unwrap();
    let (path, link) = (directory.path().join("result.json"), directory.path().join("link"));
    fs::write(&path, "an older result").unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let finished = bench(&["--output", link.to_str().unwrap(), "-n", "50", &server.url("/")]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(number(&parse(&fs::read_to_string(&path).unwrap()), "/ledger/ok"), 50);
}

/// A device is written, not replaced by a file.
#[test]
fn the_result_may_go_to_a_device() {
    let server = server();
    let url = server.url("/");
    let finished = bench(&["--format", "json", "--output", "/dev/stdout", "-n", "50", &url]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(number(&parse(&finished.stdout), "/ledger/ok"), 50);
}

/// `squall bench … | head` is no failure.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let server = server();
    let mut child = spawn(squall(&["bench", "-n", "50", &server.url("/")]));
    drop(child.stdout.take());
    let finished = finish(child);
    assert_eq!((finished.code, &*finished.stderr), (Some(0), ""));
}

/// What was asked for is what the server sees.
#[test]
fn options_of_requests_reach_the_server() {
    let service = Service { keep_requests: true, ..Service::default() };
    let server = ScriptedServer::serve(service);
    let (first, second) = (format!("PUT,{}", server.url("/a?x=1,2")), server.url("/b"));
    let requests =
        ["-X", "POST", "-b", "event {{seq:0007}}", "-H", "X-Kind: test", "--bearer", "abc"];
    let shape = ["-n", "4", "-c", "1", "--weights", "3,1", &first, &second];
    record(&[requests.as_slice(), &shape].concat());
    let record = server.stop();
    let contents: Vec<_> = record
        .connections
        .iter()
        .flat_map(|connection| &connection.requests)
        .map(|request| request.content.as_ref().unwrap())
        .map(|content| (text(&content.head), text(&content.body)))
        .collect();
    let count = |line: &str| contents.iter().filter(|(head, _)| head.starts_with(line)).count();
    assert_eq!(count("PUT /a?x=1,2 HTTP/1.1\r\n"), 3, "{contents:?}");
    assert_eq!(count("POST /b HTTP/1.1\r\n"), 1, "{contents:?}");
    for (head, body) in &contents {
        assert!(head.to_lowercase().contains("x-kind: test\r\n"), "{head}");
        assert!(head.to_lowercase().contains("authorization: bearer abc\r\n"), "{head}");
        assert!(
            ["event 0007", "event 0008", "event 0009", "event 0010"].contains(&&**body),
            "{body}"
        );
    }
}

/// A text is a text, whatever it begins with.
#[test]
fn a_text_may_begin_with_a_hyphen() {
    let server = ScriptedServer::serve(Service { reply: reply(200, "-ok"), ..Service::default() });
    let url = server.url("/");
    let record = record(&["-n", "20", "-b", "-1", "--expect-body", "-ok", &url]);
    assert_eq!(number(&record, "/ledger/ok"), 20);
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
