//! Bodies that are too large, too many, too slow, or no bodies at all.

use squall_testkit::http::Request;
use squall_testkit::wait::wait_until;

use crate::raw::{Raw, exchange, statuses};
use crate::support::{PATIENCE, TestServer, assert_problem, post};

const JSON: &str = "application/json";

fn head(more: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: localhost\r\n{more}\r\n\r\n")
}

#[test]
fn an_announced_body_that_is_too_large_is_not_waited_for() {
    let server = TestServer::with(|config| config.event_bytes_max = 1000);
    let mut connection = server.connect();
    connection.send_bytes(head("Content-Length: 1001").as_bytes()).unwrap();
    let refused = connection.receive("POST").unwrap();
    assert_problem(&refused, 413, "body_too_large");
    assert_eq!(refused.header("Connection"), Some("close"));
    let largest = Request::new("POST", "/").body(vec![b'x'; 1000]);
    assert_eq!(server.call(&largest).status, 200);
}

#[test]
fn a_chunked_body_is_refused_where_it_becomes_too_large() {
    let server = TestServer::with(|config| config.event_bytes_max = 1000);
    let chunk = format!("1f4\r\n{}\r\n", "x".repeat(500));
    let wire = head("Transfer-Encoding: chunked") + &chunk.repeat(2);
    let answers = exchange(&server, format!("{wire}0\r\n\r\n{}", head("Connection: close")));
    assert_eq!(statuses(&answers), [200, 400], "{answers}");
    assert_eq!(statuses(&exchange(&server, format!("{wire}1\r\nx\r\n"))), [413]);
}

/// A gibibyte that never ends is cut off early, whatever its sender makes of the 413.
#[test]
fn an_endless_body_is_not_read() {
    let server = TestServer::with(|config| config.event_bytes_max = 64 * 1024);
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(64 * 1024));
    for more in ["Transfer-Encoding: chunked", "Content-Length: 1073741824"] {
        let mut raw = Raw::open(&server);
        raw.send(head(more));
        let sent = raw.send_until_full(chunk.as_bytes(), 1 << 30);
        assert!(sent < 64 << 20, "the server has read {sent} bytes");
        let answers = raw.receive_all();
        assert!(matches!(statuses(&answers)[..], [] | [413]), "{answers}");
    }
    assert_eq!(server.metric("squall_request_bodies_bytes"), 0);
}

#[test]
fn too_many_json_elements_are_refused() {
    let server = TestServer::with(|config| config.json_elements_max = 3);
    server.create("j", JSON);
    server.append("j", JSON, "[1,2,3]");
    let refused = server.call(&post("j").header("Content-Type", JSON).body("[1,2,3,4]"));
    assert_problem(&refused, 413, "too_many_elements");
    assert_eq!(server.read("/v1/stream/j").text(), "[1,2,3]");
}

#[test]
fn bodies_in_flight_are_bounded_together() {
    let server = TestServer::with(|config| config.bodies_bytes_max = 1000);
    let mut first = server.connect();
    let half = head("Content-Length: 800") + &"x".repeat(700);
    first.send_bytes(half.as_bytes()).unwrap();
    assert!(wait_until(PATIENCE, || server.metric("squall_request_bodies_bytes") >= 700));
    let refused = server.call(&Request::new("POST", "/").body(vec![b'y'; 400]));
    assert_problem(&refused, 503, "overloaded");
    assert!(refused.header("Retry-After").is_some());
    assert_eq!(refused.header("Connection"), Some("close"));
    assert_eq!(server.call(&Request::new("POST", "/").body("small")).status, 200);
    first.send_bytes("x".repeat(100).as_bytes()).unwrap();
    assert_eq!(first.receive("POST").unwrap().status, 200);
    assert!(wait_until(PATIENCE, || server.metric("squall_request_bodies_bytes") == 0));
    assert_eq!(server.call(&Request::new("POST", "/").body(vec![b'y'; 400])).status, 200);
}

/// Announcing much and sending nothing keeps nobody else out.
#[test]
fn a_body_takes_its_share_as_it_comes() {
    let server = TestServer::with(|config| config.bodies_bytes_max = 1 << 20);
    let mut hoarders: Vec<Raw> = (0..20).map(|_| Raw::open(&server)).collect();
    for hoarder in &mut hoarders {
        hoarder.send(head("Content-Length: 500000") + "x");
    }
    assert!(wait_until(PATIENCE, || server.metric("squall_request_bodies_bytes") >= 20));
    assert_eq!(server.call(&Request::new("POST", "/").body("mine")).status, 200);
}

#[test]
fn a_body_that_comes_to_a_halt_is_answered_and_cut() {
    let server = TestServer::with(|config| {
        config.body_pause_max = std::time::Duration::from_millis(200);
    });
    let chunked = head("Transfer-Encoding: chunked") + "3\r\nab";
    for wire in [head("Content-Length: 10") + "abc", chunked, head("Content-Length: 1")] {
        let answers = exchange(&server, wire);
        assert_eq!(statuses(&answers), [408], "{answers}");
        assert!(answers.contains("slow_body"), "{answers}");
    }
    assert_eq!(server.read("/").status, 204);
}

#[test]
fn broken_chunks_are_refused_and_store_nothing() {
    let server = TestServer::start();
    let sizes = ["-1", "", "g", "0x5", "fffffffffffffffff", "ffffffffffffffff", "5 5", "\u{b2}"];
    for size in sizes {
        let wire = head("Transfer-Encoding: chunked") + &format!("{size}\r\nhello\r\n0\r\n\r\n");
        refused(&server, &wire);
    }
    for chunks in ["5\nhello\n0\n\n", "5\r\nhelloX\r\n0\r\n\r\n", "5\r\rhello\r\n0\r\n\r\n"] {
        refused(&server, &(head("Transfer-Encoding: chunked") + chunks));
    }
    let extension = format!("5;{}\r\nhello\r\n0\r\n\r\n", "e".repeat(100_000));
    refused(&server, &(head("Transfer-Encoding: chunked") + &extension));
    let trailers = "T: t\r\n".repeat(100_000);
    refused(
        &server,
        &(head("Transfer-Encoding: chunked") + &format!("5\r\nhello\r\n0\r\n{trailers}\r\n")),
    );
    assert_eq!(server.read("/").status, 204);
}

/// A 4xx or a close, and nothing else.
fn refused(server: &TestServer, wire: &str) {
    let mut raw = Raw::open(server);
    raw.try_send(wire);
    raw.end_sending_if_open();
    let answers = raw.receive_all();
    let start = &wire[..wire.len().min(200)];
    assert!(matches!(statuses(&answers)[..], [] | [400..=499]), "{start:?}: {answers}");
}
