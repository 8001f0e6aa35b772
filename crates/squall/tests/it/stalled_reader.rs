//! Readers that stop in the middle of a long catch-up while appends go on.

use std::path::Path;
use std::time::Duration;

use squall_testkit::http::{Connection, Request, call};
use squall_testkit::process::ServerProcess;
use squall_testkit::wait::wait_until;
use tempfile::tempdir;

use crate::command::start;
use crate::memory::resident_bytes;

const EVENT_BYTES: usize = 1 << 20;
/// Of the stream that is read, and of the one that is appended to meanwhile.
const EVENTS: usize = 48;

const CHECKPOINT_BYTES: u64 = 2 << 20;
/// A checkpoint follows when the appends that wait are done, so one batch may be over.
const WAL_BYTES_MAX: u64 = CHECKPOINT_BYTES + (16 << 20);
/// Buffers of a few readers, of the database and of the allocator.
const GROWN_BYTES_MAX: u64 = 48 << 20;

const PATIENCE: Duration = Duration::from_secs(60);

/// A page is read in a transaction of its own, which nobody's socket holds open: were it
/// held, the log could not be started over and would grow with every append.
#[test]
fn the_log_stays_short_while_readers_are_stalled() {
    let directory = tempdir().unwrap();
    let checkpoint = CHECKPOINT_BYTES.to_string();
    let options = ["--write-timeout", "10m", "--wal-checkpoint-bytes", &checkpoint];
    let server = start(directory.path(), &options);
    for name in ["read", "written"] {
        let make = Request::new("PUT", &path(name)).header("Content-Type", "text/plain");
        assert_eq!(call(server.address(), &make).unwrap().status, 201);
    }
    (0..EVENTS).for_each(|_| append(&server, "read"));
    let targets = ["?offset=-1&live=sse", "?live=events", "?offset=-1", "?offset=-1"];
    let mut stalled: Vec<Connection> = targets.iter().map(|query| stall(&server, query)).collect();
    let before = resident_bytes(&server);
    let (mut longest, mut most) = (0, 0);
    for _ in 0..EVENTS {
        append(&server, "written");
        longest = longest.max(wal_bytes(directory.path()));
        most = most.max(resident_bytes(&server));
    }
    eprintln!(
        "log {} KiB, {} KiB more in memory",
        longest / 1024,
        most.saturating_sub(before) / 1024
    );
    assert!(longest < WAL_BYTES_MAX, "{longest} bytes");
    assert!(most.saturating_sub(before) < GROWN_BYTES_MAX, "{before} and then {most} bytes");
    assert!(wait_until(PATIENCE, || wal_bytes(directory.path()) <= WAL_BYTES_MAX));
    // Stalled all the while, they go on where they stopped.
    let mut received = 0;
    while received < EVENTS * EVENT_BYTES {
        received += stalled[1].receive_chunk().unwrap().len();
    }
}

fn path(name: &str) -> String {
    format!("/v1/stream/{name}")
}

fn append(server: &ServerProcess, name: &str) {
    let post = Request::new("POST", &path(name)).header("Content-Type", "text/plain");
    let reply = call(server.address(), &post.body(vec![b'x'; EVENT_BYTES])).unwrap();
    assert_eq!(reply.status, 204, "{}", reply.text());
}

/// A reader that has read the head of its answer and no more.
fn stall(server: &ServerProcess, query: &str) -> Connection {
    let mut connection = Connection::open(server.address()).unwrap();
    connection.send(&Request::new("GET", &format!("{}{query}", path("read")))).unwrap();
    assert_eq!(connection.receive_head().unwrap().status, 200);
    connection
}

/// The size of the write-ahead log.
fn wal_bytes(data: &Path) -> u64 {
    let files = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap());
    let mut logs = files.filter(|file| file.file_name().to_string_lossy().ends_with("-wal"));
    logs.next().unwrap().metadata().unwrap().len()
}
