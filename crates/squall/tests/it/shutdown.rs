//! SIGTERM and SIGINT: what ends in order, and what ends at once.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use squall_testkit::http::{Connection, Request};
use squall_testkit::process::ServerProcess;
use squall_testkit::wait::{pause, wait_until};
use tempfile::tempdir;

use crate::command::{END_MAX, start};

const FOLLOWERS: usize = 20;
/// Followers are told to come again after so many milliseconds.
const RETRY_MS: std::ops::RangeInclusive<u64> = 1_000..=10_000;

#[test]
fn an_idle_server_ends_at_once_with_code_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let directory = tempdir().unwrap();
        let mut server = start(directory.path(), &[]);
        let unused = Connection::open(server.address()).unwrap();
        let mut closed = Connection::open(server.address()).unwrap();
        closed.call(&Request::new("GET", "/healthz")).unwrap();
        drop(closed);
        ends_in_order(&mut server, signal);
        drop(unused);
    }
}

/// Clients with a pool look at a connection only when they need it next.
#[test]
fn a_connection_that_is_kept_alive_does_not_hold_the_server_up() {
    let directory = tempdir().unwrap();
    let mut server = start(directory.path(), &[]);
    let mut kept = Connection::open(server.address()).unwrap();
    kept.call(&Request::new("GET", "/healthz")).unwrap();
    ends_in_order(&mut server, Signal::TERM);
    drop(kept);
}

/// Sends `signal` and expects the end well within the time to drain.
fn ends_in_order(server: &mut ServerProcess, signal: Signal) {
    let begin = Instant::now();
    server.signal(signal).unwrap();
    assert_eq!(server.wait(END_MAX).unwrap().code(), Some(0), "{}", server.stderr());
    assert!(begin.elapsed() < Duration::from_secs(5), "something held it up");
}

/// Followers hold nothing up, and do not all come back in the same moment.
#[test]
fn followers_are_sent_away_over_ten_seconds() {
    let directory = tempdir().unwrap();
    let mut server = start(directory.path(), &[]);
    let followers: Vec<_> = (0..FOLLOWERS).map(|_| follow(&server)).collect();
    let begin = Instant::now();
    server.terminate().unwrap();
    let mut retries: Vec<u64> = followers.into_iter().map(retry).collect();
    assert_eq!(server.wait(END_MAX).unwrap().code(), Some(0), "{}", server.stderr());
    assert!(begin.elapsed() < Duration::from_secs(10), "the time to drain is over");
    assert!(retries.iter().all(|retry| RETRY_MS.contains(retry)), "{retries:?}");
    retries.sort_unstable();
    let spread = retries[FOLLOWERS - 1] - retries[0];
    assert!(spread > 2_000, "all at the same time: {retries:?}");
}

#[test]
fn a_second_signal_ends_the_process_at_once() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let directory = tempdir().unwrap();
        let mut server = start(directory.path(), &[]);
        let held = half_an_append(&server);
        server.terminate().unwrap();
        assert!(wait_until(END_MAX, || server.stderr().contains("shutting down")));
        // The same one again at once is an echo, which `timeout` sends.
        server.terminate().unwrap();
        pause(Duration::from_millis(500));
        let begin = Instant::now();
        server.signal(signal).unwrap();
        assert_eq!(server.wait(END_MAX).unwrap().code(), Some(code), "{}", server.stderr());
        assert!(begin.elapsed() < Duration::from_secs(5));
        drop(held);
    }
}

#[test]
fn what_is_left_after_the_time_to_drain_is_cut() {
    let directory = tempdir().unwrap();
    let mut server = start(directory.path(), &["--drain", "300ms"]);
    let held = half_an_append(&server);
    server.terminate().unwrap();
    assert_eq!(server.wait(END_MAX).unwrap().code(), Some(8), "{}", server.stderr());
    let last = server.stderr().lines().last().map(str::to_owned).unwrap();
    assert_eq!(last, "squall: 1 connection was still open after 300ms and cut; all data is stored");
    drop(held);
}

/// An append that is under way is answered before the server ends.
#[test]
fn an_open_request_is_finished() {
    let directory = tempdir().unwrap();
    let mut server = start(directory.path(), &[]);
    let mut held = half_an_append(&server);
    server.terminate().unwrap();
    assert!(wait_until(END_MAX, || server.stderr().contains("shutting down")));
    held.send_bytes(b"56789").unwrap();
    let answer = held.receive("POST").unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    drop(held);
    assert_eq!(server.wait(END_MAX).unwrap().code(), Some(0), "{}", server.stderr());
}

/// A follower of the default stream that has its answer's head.
fn follow(server: &ServerProcess) -> Connection {
    let mut connection = Connection::open(server.address()).unwrap();
    connection.send(&Request::new("GET", "/stream?offset=now")).unwrap();
    assert_eq!(connection.receive_head().unwrap().status, 200);
    connection
}

/// What the server's last words to a follower say of when to come again.
fn retry(mut follower: Connection) -> u64 {
    let mut text = String::new();
    loop {
        let chunk = follower.receive_chunk().unwrap();
        if chunk.is_empty() {
            break;
        }
        text.push_str(&String::from_utf8(chunk).unwrap());
    }
    let line = text.lines().find_map(|line| line.strip_prefix("retry:"));
    line.unwrap_or_else(|| panic!("no retry in {text:?}")).trim().parse().unwrap()
}

/// A connection with an append of ten bytes of which five are there. The head has been read
/// by the server, which asks for the rest.
fn half_an_append(server: &ServerProcess) -> Connection {
    let mut connection = Connection::open(server.address()).unwrap();
    connection
        .send_bytes(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n01234")
        .unwrap();
    // An answer on another connection shows that the server has had time for this one.
    let mut other = Connection::open(server.address()).unwrap();
    other.call(&Request::new("GET", "/healthz")).unwrap();
    connection
}
