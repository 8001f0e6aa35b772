//! A write that fails for another reason than a full disk: the process must end.

use std::process::Command;

use squall_testkit::http::{Connection, Request};
use squall_testkit::process::ServerProcess;
use tempfile::tempdir;

use crate::command::{END_MAX, binary, start};

/// Appends before one must have met the limit.
const APPENDS_MAX: usize = 64;
const EVENT_BYTES: usize = 512 * 1024;

/// The system refuses to let any file grow over a few MiB, which SQLite reports as an I/O
/// error. Nothing is acknowledged from there on, the code says why, and what had been
/// acknowledged is there afterwards.
#[test]
fn a_failed_write_ends_the_process_with_code_6() {
    let directory = tempdir().unwrap();
    // Without the trap the system would end the process instead of refusing the write.
    let script =
        "trap '' XFSZ; ulimit -f 8192; exec \"$0\" serve --listen 127.0.0.1:0 --data \"$1\"";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(binary()).arg(directory.path());
    let mut server = ServerProcess::spawn(command).unwrap();
    let mut connection = Connection::open(server.address()).unwrap();
    let plain = |method| Request::new(method, "/v1/stream/s").header("Content-Type", "text/plain");
    assert_eq!(connection.call(&plain("PUT")).unwrap().status, 201);
    let append = plain("POST").body(vec![b'x'; EVENT_BYTES]);
    let mut acked = 0;
    while acked < APPENDS_MAX {
        match connection.call(&append) {
            Ok(answer) if answer.status < 300 => acked += 1,
            Ok(answer) => {
                assert!(answer.text().contains("outcome_unknown"), "{}", answer.text());
                break;
            }
            // The answer may be cut off with the process.
            Err(_) => break,
        }
    }
    assert!(acked < APPENDS_MAX, "no write was refused");
    assert_eq!(server.wait(END_MAX).unwrap().code(), Some(6), "{}", server.stderr());
    let last = server.stderr().lines().last().map(str::to_owned).unwrap();
    assert!(last.starts_with("squall: the storage failed: "), "{last}");

    let server = start(directory.path(), &[]);
    let head = Request::new("HEAD", "/v1/stream/s");
    let answer = Connection::open(server.address()).unwrap().call(&head).unwrap();
    let tail = answer.header("Stream-Next-Offset").unwrap();
    let stored: usize = tail.split('_').next_back().unwrap().parse().unwrap();
    let events = stored / EVENT_BYTES;
    assert!(events == acked || events == acked + 1, "{events} stored, {acked} acked");
}
