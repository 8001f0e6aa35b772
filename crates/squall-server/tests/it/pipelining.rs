//! Several requests in one write: every answer comes, in order.

use squall_testkit::faulty::{Fault, Gate, Method, When};
use squall_testkit::http::Request;
use squall_testkit::wait::wait_until;

use crate::raw::{Raw, exchange, faulty, statuses};
use crate::support::{PATIENCE, TestServer};

const GET: &str = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const LAST: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

fn post(body: &str) -> String {
    let length = body.len();
    format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}")
}

#[test]
fn sixteen_requests_get_sixteen_answers_in_order() {
    let server = TestServer::start();
    let mut connection = server.connect();
    for round in 0..20 {
        let mut wire = String::new();
        for index in 0..8 {
            wire += &post(&format!("{round}.{index}"));
            wire += GET;
        }
        connection.send_bytes(wire.as_bytes()).unwrap();
        for index in 0..8 {
            assert_eq!(connection.receive("POST").unwrap().text(), "Success");
            assert_eq!(connection.receive("GET").unwrap().text(), format!("{round}.{index}"));
        }
    }
}

#[test]
fn mixed_methods_keep_their_order() {
    let server = TestServer::start();
    let head = "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let options = "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let absurd = "BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let wire = [GET, &post("x"), head, options, absurd, GET, LAST].concat();
    let answers = exchange(&server, wire);
    assert_eq!(statuses(&answers), [204, 200, 200, 204, 405, 200, 200], "{answers}");
}

#[test]
fn a_request_that_waits_for_the_store_holds_its_place() {
    let (server, store) = faulty(|_| {});
    let gate = Gate::default();
    store.inject(Method::Append, When::Next(1), Fault::Stall(gate.clone()));
    let mut connection = server.connect();
    connection.send_bytes([GET, &post("late"), GET, GET].concat().as_bytes()).unwrap();
    assert!(wait_until(PATIENCE, || gate.waiting() == 1));
    gate.open();
    assert_eq!(connection.receive("GET").unwrap().status, 204);
    assert_eq!(connection.receive("POST").unwrap().text(), "Success");
    assert_eq!(connection.receive("GET").unwrap().text(), "late");
    assert_eq!(connection.receive("GET").unwrap().text(), "late");
}

/// What is answered need not wait for a later request's store.
#[test]
fn an_answer_does_not_wait_for_the_request_behind_it() {
    let (server, store) = faulty(|_| {});
    let gate = Gate::default();
    store.inject(Method::Append, When::Next(1), Fault::Stall(gate.clone()));
    let mut connection = server.connect();
    connection.send_bytes([GET, &post("late"), GET].concat().as_bytes()).unwrap();
    assert_eq!(connection.receive("GET").unwrap().status, 204);
    gate.open();
    assert_eq!(connection.receive("POST").unwrap().status, 200);
    assert_eq!(connection.receive("GET").unwrap().text(), "late");
}

#[test]
fn a_follow_flows_with_a_request_behind_it() {
    let server = TestServer::start();
    server.call(&Request::new("POST", "/").body("first"));
    let mut raw = Raw::open(&server);
    raw.send(["GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n", GET].concat());
    raw.receive_until("data:first\n\n");
    server.call(&Request::new("POST", "/").body("second"));
    raw.receive_until("data:second\n\n");
}

#[test]
fn the_last_answer_comes_when_more_was_sent_than_is_answered() {
    let server = TestServer::start();
    for behind in [GET.repeat(3), "x".repeat(100), post(&"y".repeat(5000))] {
        let answers = exchange(&server, [GET, LAST, &behind].concat());
        assert_eq!(statuses(&answers), [204, 200], "{answers}");
    }
}

#[test]
fn answers_in_front_of_nonsense_come_all_the_same() {
    let server = TestServer::start();
    for nonsense in ["\0\0\0\r\n\r\n", "GET / HTTP/1.1\r\nbad header: 1\r\n\r\n", "POST\r\n\r\n"] {
        let answers = exchange(&server, [&post("kept"), GET, nonsense].concat());
        assert_eq!(statuses(&answers), [200, 200, 400], "{answers}");
    }
}

#[test]
fn byte_by_byte_is_as_good_as_at_once() {
    let server = TestServer::start();
    let mut raw = Raw::open(&server);
    for byte in [&post("slow"), GET, LAST].concat().as_bytes() {
        raw.send([*byte]);
    }
    assert_eq!(statuses(&raw.receive_all()), [200, 200, 200]);
}

/// Asking without end and reading nothing costs the server no more than its buffers.
#[test]
fn a_client_that_asks_and_does_not_read_is_not_read_from() {
    let server = TestServer::start();
    server.call(&Request::new("POST", "/").body(vec![b'x'; 1024]));
    let mut raw = Raw::open_small(&server);
    let taken = raw.send_until_full(GET.repeat(100).as_bytes(), 64 * 1024 * 1024);
    assert!(taken < 16 * 1024 * 1024, "the server has read {taken} bytes");
    server.call(&Request::new("GET", "/healthz"));
}
