//! Starting: the line that others wait for, and what keeps a server from starting.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use squall_testkit::http::{self, Request};
use squall_testkit::process::ServerProcess;
use squall_testkit::wait::wait_until;
use tempfile::tempdir;

use crate::command::{END_MAX, Finished, binary, run, serve_and_end, squall, start};

/// Where a SQLite file keeps the number that squall counts its schema with.
const USER_VERSION_AT: u64 = 60;
/// Where it keeps the number that says whose file it is.
const APPLICATION_ID_AT: u64 = 68;

#[test]
fn one_line_names_the_address_and_the_data() {
    let directory = tempdir().unwrap();
    let data = directory.path().join("data");
    let server = start(&data, &[]);
    let address = server.address();
    assert_ne!(address.port(), 0);
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "squall {version} is listening on http://{address}, streams in {}\n",
        data.display()
    );
    assert_eq!(server.stdout(), expected);
    let append = Request::new("POST", "/").body("first");
    assert_eq!(http::call(address, &append).unwrap().text(), "Success");
}

#[test]
fn the_log_names_versions_and_limits() {
    let directory = tempdir().unwrap();
    let options = ["--log-format", "json", "--append-queue-max", "77", "--connections-max", "50"];
    let server = start(directory.path(), &options);
    let log = log_of(&server);
    assert!(log.lines().all(|line| line.starts_with('{') && line.ends_with('}')), "{log}");
    for expected in
        ["SQLite 3.", "\"append_queue_max\":77", "\"connections_max\":50", "\"followers_max\":25"]
    {
        assert!(log.contains(expected), "{expected}: {log}");
    }
}

/// A log on a full disk is lost, and nothing else.
#[test]
fn a_log_that_cannot_be_written_ends_nothing() {
    let directory = tempdir().unwrap();
    let script = "exec \"$0\" serve --listen 127.0.0.1:0 --data \"$1\" 2>/dev/full";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(binary()).arg(directory.path());
    let mut server = ServerProcess::spawn(command).unwrap();
    let append = Request::new("POST", "/").body("unlogged");
    assert_eq!(http::call(server.address(), &append).unwrap().status, 200);
    server.terminate().unwrap();
    assert_eq!(server.wait(END_MAX).unwrap().code(), Some(0));
}

/// A shell's soft limit of 1,024 files is no reason to serve fewer connections.
#[test]
fn the_file_limit_is_raised_as_far_as_allowed() {
    let directory = tempdir().unwrap();
    let script =
        "ulimit -Sn 128 && ulimit -Hn 512 && exec \"$0\" serve --listen 127.0.0.1:0 --data \"$1\"";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(binary()).arg(directory.path());
    let server = ServerProcess::spawn(command).unwrap();
    let log = log_of(&server);
    assert!(log.contains("files_max=512"), "{log}");
    assert!(log.contains("connections_max=448"), "{log}");
}

#[test]
fn what_was_appended_is_there_after_a_restart() {
    let directory = tempdir().unwrap();
    let mut server = start(directory.path(), &[]);
    http::call(server.address(), &Request::new("POST", "/").body("kept")).unwrap();
    server.terminate().unwrap();
    assert_eq!(server.wait(END_MAX).unwrap().code(), Some(0));
    let server = start(directory.path(), &["--durability", "normal"]);
    assert_eq!(http::call(server.address(), &Request::new("GET", "/")).unwrap().text(), "kept");
}

#[test]
fn a_second_server_on_the_same_data_is_refused() {
    let directory = tempdir().unwrap();
    let server = start(directory.path(), &[]);
    // The same address as well: that the data is taken is the better reason.
    let address = server.address().to_string();
    let mut command = squall(&["serve", "--listen", &address, "--data"]);
    command.arg(directory.path());
    let second = run(command);
    assert_eq!(second.code, Some(7), "{second:?}");
    assert!(last_line(&second).contains("another server has"), "{second:?}");
    let read = http::call(server.address(), &Request::new("GET", "/readyz")).unwrap();
    assert_eq!(read.status, 200);
}

#[test]
fn an_address_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let directory = tempdir().unwrap();
    let mut command = squall(&["serve", "--listen", &address, "--data"]);
    command.arg(directory.path());
    let finished = run(command);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let expected = format!("squall: cannot listen on {address}: another process does;");
    assert!(last_line(&finished).starts_with(&expected), "{finished:?}");
    assert_eq!(finished.stdout, "");
}

#[test]
fn data_of_a_newer_squall_is_left_alone() {
    let finished = with_header(USER_VERSION_AT, 99);
    assert_eq!(finished.code, Some(7), "{finished:?}");
    assert!(last_line(&finished).contains("schema version 99"), "{finished:?}");
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let finished = with_header(APPLICATION_ID_AT, 0x0f05_5112);
    assert_eq!(finished.code, Some(7), "{finished:?}");
    assert!(last_line(&finished).contains("another program"), "{finished:?}");
}

#[test]
fn a_file_that_is_no_database_is_a_failure_of_the_storage() {
    let directory = tempdir().unwrap();
    let mut file = fs::File::create(directory.path().join("squall.db")).unwrap();
    file.write_all(&[0x20; 8_192]).unwrap();
    let finished = serve_and_end(directory.path(), &[]);
    assert_eq!(finished.code, Some(6), "{finished:?}");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let directory = tempdir().unwrap();
    fs::write(directory.path().join("file"), "").unwrap();
    let finished = serve_and_end(&directory.path().join("file/data"), &[]);
    assert_eq!(finished.code, Some(6), "{finished:?}");
    assert!(last_line(&finished).contains("file/data"), "{finished:?}");
}

/// Makes a database, writes `number` into its header, and opens it again.
fn with_header(at: u64, number: u32) -> Finished {
    let directory = tempdir().unwrap();
    let mut server = start(directory.path(), &[]);
    server.terminate().unwrap();
    assert_eq!(server.wait(END_MAX).unwrap().code(), Some(0));
    write_header(&directory.path().join("squall.db"), at, number);
    serve_and_end(directory.path(), &[])
}

fn write_header(database: &Path, at: u64, number: u32) {
    let file = fs::OpenOptions::new().write(true).open(database).unwrap();
    file.write_all_at(&number.to_be_bytes(), at).unwrap();
}

/// What a server logs at its start. It comes by another pipe than the ready line.
fn log_of(server: &ServerProcess) -> String {
    wait_until(END_MAX, || server.stderr().contains("limits of reading and following"));
    server.stderr()
}

fn last_line(finished: &Finished) -> &str {
    finished.stderr.lines().last().unwrap_or_default()
}
