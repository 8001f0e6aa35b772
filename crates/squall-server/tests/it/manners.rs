//! HTTP/1 as clients of every age speak it.

use squall_testkit::faulty::{Fault, Gate, Method, When};
use squall_testkit::http::Request;
use squall_testkit::wait::wait_until;

use crate::raw::{Raw, exchange, faulty, statuses};
use crate::support::{PATIENCE, TestServer, assert_problem};

const LAST: &str = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

#[test]
fn a_connection_serves_one_request_after_another() {
    let server = TestServer::start();
    let mut connection = server.connect();
    for index in 0..50 {
        let body = index.to_string();
        let posted = connection.call(&Request::new("POST", "/").body(body.as_bytes())).unwrap();
        assert_eq!(posted.status, 200);
        assert_eq!(connection.call(&Request::new("GET", "/")).unwrap().text(), body);
        assert_eq!(connection.call(&Request::new("HEAD", "/")).unwrap().text(), "");
        assert_eq!(connection.call(&Request::new("GET", "/nowhere")).unwrap().status, 404);
    }
    assert_eq!(server.metric("squall_connections"), 2);
}

#[test]
fn an_old_client_gets_one_answer_unless_it_asks_for_more() {
    let server = TestServer::start();
    let get = "GET /healthz HTTP/1.0\r\n\r\n";
    assert_eq!(statuses(&exchange(&server, get.repeat(2))), [200]);
    let more = "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    let answers = exchange(&server, [more, more, get].concat());
    assert_eq!(statuses(&answers), [200, 200, 200]);
    assert_eq!(answers.to_ascii_lowercase().matches("connection: keep-alive").count(), 2);
}

#[test]
fn an_old_client_follows_until_the_connection_ends() {
    let server = TestServer::start();
    server.call(&Request::new("POST", "/").body("first"));
    let mut raw = Raw::open(&server);
    raw.send("GET /stream HTTP/1.0\r\n\r\n");
    let head = raw.receive_until("data:first\n\n");
    assert!(!head.to_ascii_lowercase().contains("transfer-encoding"), "{head}");
    server.call(&Request::new("POST", "/").body("second"));
    raw.receive_until("data:second\n\n");
}

#[test]
fn a_body_is_asked_for_where_the_client_wants_to_be_asked() {
    let server = TestServer::start();
    let mut raw = Raw::open(&server);
    raw.send(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
    );
    assert_eq!(raw.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    raw.send("hello");
    raw.receive_until("Success");
    raw.send(LAST);
    assert!(raw.receive_all().ends_with("hello"));
}

#[test]
fn a_body_that_is_refused_is_not_asked_for() {
    let server = TestServer::with(|config| config.event_bytes_max = 1000);
    server.create("s", "text/plain");
    for (target, more, status) in [
        ("/", "Content-Length: 1001", 413),
        ("/healthz", "Content-Length: 5", 405),
        ("/v1/stream/s", "Content-Length: 5\r\nProducer-Id: p", 400),
        ("/", "Content-Length: 5\r\nHost: localhost", 400),
        ("/", "Content-Length: 5\r\nOrigin: http://example.org", 403),
    ] {
        let head = format!("POST {target} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n");
        let mut raw = Raw::open(&server);
        raw.send(head + "Expect: 100-continue\r\n\r\n");
        let answer = raw.receive_until("\r\n\r\n");
        assert_eq!(statuses(&answer), [status], "{target} {more}: {answer}");
        // The body that was not sent is not waited for either.
        assert_eq!(statuses(&raw.receive_all_after_end()), [0; 0]);
    }
}

#[test]
fn head_answers_as_get_without_a_body() {
    let server = TestServer::start();
    let targets = ["/", "/v1/streams", "/healthz", "/readyz", "/metrics", "/nowhere", "/stream"];
    for filled in [false, true] {
        if filled {
            server.call(&Request::new("POST", "/").body("event"));
        }
        for target in targets {
            let mut connection = server.connect();
            let head = connection.call(&Request::new("HEAD", target)).unwrap();
            let mut other = server.connect();
            other.send(&Request::new("GET", target)).unwrap();
            let get = other.receive_head().unwrap();
            assert_eq!(head.status, get.status, "{target}");
            let headers = |response: &squall_testkit::http::Response| {
                let mut lines = response.headers.clone();
                lines.retain(|(name, _)| name != "date");
                // What is counted changes from one request to the next.
                lines.retain(|(name, _)| target != "/metrics" || name != "content-length");
                // A follow says how it is sent and that it ends the connection.
                let of_connection = ["transfer-encoding", "connection"];
                lines.retain(|(name, _)| target != "/stream" || !of_connection.contains(&&**name));
                lines
            };
            assert_eq!(headers(&head), headers(&get), "{target}");
            // No body came: the next answer follows at once.
            let next = connection.call(&Request::new("GET", "/healthz")).unwrap();
            assert_eq!((next.status, next.text().as_str()), (200, "ok\n"), "{target}");
        }
    }
    server.wait_for_followers(0);
}

#[test]
fn options_say_what_is_allowed() {
    let server = TestServer::start();
    for target in ["*", "/", "/stream", "/v1/stream/a/b", "/v1/streams", "/metrics"] {
        let answer = server.call(&Request::new("OPTIONS", target));
        assert_eq!((answer.status, answer.text().as_str()), (204, ""), "{target}");
        assert!(answer.header("Allow").unwrap().contains("OPTIONS"), "{target}");
    }
}

#[test]
fn chunks_may_have_extensions_and_trailers() {
    let server = TestServer::start();
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunks =
        "3;a=b;c=\"d;e\"\r\nhel\r\n002\r\nlo\r\n0;last\r\nTrailer-One: 1\r\nTwo: 2\r\n\r\n";
    let answers = exchange(&server, [head, chunks, LAST].concat());
    assert_eq!(statuses(&answers), [200, 200], "{answers}");
    assert!(answers.ends_with("hello"), "{answers}");
}

#[test]
fn the_target_may_name_the_host() {
    let server = TestServer::start();
    let get = |target: &str| {
        let request = Request::new("GET", target).header("Connection", "close");
        server.call(&request)
    };
    let port = server.address.port();
    assert_eq!(get(&format!("http://localhost:{port}/healthz")).text(), "ok\n");
    assert_eq!(get("http://127.0.0.1/healthz?x").text(), "ok\n");
    assert_problem(&get("http://example.org/healthz"), 421, "foreign_host");
}

/// `nc -N`, and every client that has nothing more to say.
#[test]
fn a_client_that_ends_its_sending_side_still_gets_its_answers() {
    let (server, store) = faulty(|_| {});
    let gate = Gate::default();
    store.inject(Method::Append, When::Next(1), Fault::Stall(gate.clone()));
    let post = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nlate";
    let mut raw = Raw::open(&server);
    raw.send([post, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"].concat());
    raw.end_sending();
    assert!(wait_until(PATIENCE, || gate.waiting() == 1));
    gate.open();
    let answers = raw.receive_all();
    assert_eq!(statuses(&answers), [200, 200], "{answers}");
    assert!(answers.ends_with("late"), "{answers}");
    let chunked = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    for body in ["5\r\nother\r\n0\r\n\r\n", "5\r\nother\r\n0\r\nT: t\r\n\r\n"] {
        let mut raw = Raw::open(&server);
        raw.send([chunked, body].concat());
        assert_eq!(statuses(&raw.receive_all_after_end()), [200]);
    }
    assert_eq!(server.read("/").text(), "other");
}

/// Also where the answer is there at once, and where it does not fit into the kernel.
#[test]
fn an_end_in_the_same_breath_costs_no_answer() {
    let server = TestServer::start();
    server.create("big", "application/octet-stream");
    server.append("big", "application/octet-stream", vec![b'x'; 12 << 20]);
    let get = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    for (target, status) in [("/", 204), ("/healthz", 200), ("/nowhere", 404), ("/v1/streams", 200)]
    {
        for count in [1, 2, 20] {
            let mut raw = Raw::open(&server);
            raw.send(get(target).repeat(count));
            let answers = raw.receive_all_after_end();
            assert_eq!(statuses(&answers), vec![status; count], "{target}");
        }
    }
    let mut raw = Raw::open_small(&server);
    raw.send(get("/v1/stream/big"));
    assert!(raw.receive_all_after_end().len() > 12 << 20);
}

/// Half a body is no event, however its sender leaves.
#[test]
fn a_body_that_breaks_off_is_not_stored() {
    let server = TestServer::start();
    let starts =
        ["Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"];
    for start in starts {
        let mut raw = Raw::open(&server);
        raw.send(format!("POST / HTTP/1.1\r\nHost: localhost\r\n{start}"));
        let answers = raw.receive_all_after_end();
        assert!(matches!(statuses(&answers)[..], [] | [400]), "{answers}");
        let mut raw = Raw::open(&server);
        raw.send(format!("POST / HTTP/1.1\r\nHost: localhost\r\n{start}"));
        raw.reset();
    }
    assert!(wait_until(PATIENCE, || server.metric("squall_connections") == 1));
    assert_eq!(server.metric("squall_request_bodies_bytes"), 0);
    assert_eq!(server.read("/").status, 204);
}

/// Once handed over, an append outlives its caller: "outcome unknown", never "not stored".
#[test]
fn a_client_that_breaks_off_amid_an_append_has_appended() {
    let (server, store) = faulty(|_| {});
    let gate = Gate::default();
    store.inject(Method::Append, When::Next(1), Fault::Stall(gate.clone()));
    let mut raw = Raw::open(&server);
    raw.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nkept");
    assert!(wait_until(PATIENCE, || gate.waiting() == 1));
    raw.reset();
    gate.open();
    assert!(wait_until(PATIENCE, || server.read("/").text() == "kept"));
}
