//! `/` and `/stream`: the simple face on the stream called `default`.

use squall_testkit::http::{Request, Response};

use crate::follower::{Follower, message};
use crate::support::{TestServer, assert_problem, at, post, put};

fn newest(server: &TestServer) -> (u16, String) {
    let found = server.read("/");
    (found.status, found.text())
}

fn say(server: &TestServer, body: impl Into<Vec<u8>>) -> Response {
    server.call(&Request::new("POST", "/").body(body))
}

#[test]
fn there_is_nothing_before_the_first_event() {
    let server = TestServer::start();
    for method in ["GET", "HEAD"] {
        assert_eq!(server.call(&Request::new(method, "/")).status, 204);
    }
    server.create("default", "text/plain");
    assert_eq!(newest(&server), (204, String::new()));
}

#[test]
fn the_newest_event_is_given_with_the_streams_content_type() {
    let server = TestServer::start();
    // Whatever a client calls the body, the stream is text.
    for content_type in ["application/x-www-form-urlencoded", "application/json", "nonsense"] {
        let request = Request::new("POST", "/").header("Content-Type", content_type);
        let taken = server.call(&request.body(content_type));
        assert_eq!((taken.status, taken.text()), (200, "Success".to_owned()));
    }
    let found = server.read("/");
    assert_eq!((found.status, found.text()), (200, "nonsense".to_owned()));
    assert_eq!(found.header("Content-Type"), Some("text/plain"));
    let head = server.call(&Request::new("HEAD", "/"));
    assert_eq!((head.status, head.header("Content-Length")), (200, Some("8")));
    assert_eq!(server.read("/v1/stream/default").text(), {
        "application/x-www-form-urlencodedapplication/jsonnonsense"
    });
}

#[test]
fn an_empty_body_is_no_event() {
    let server = TestServer::start();
    assert_problem(&say(&server, ""), 400, "empty_body");
    assert_eq!(server.read("/v1/stream/default").status, 404);
}

#[test]
fn stream_waits_until_there_is_a_stream() {
    let server = TestServer::start();
    let mut first = Follower::open(&server, "/stream");
    let mut second = Follower::open(&server, "/stream?offset=now");
    server.wait_for_followers(2);
    say(&server, "hello");
    assert_eq!(first.message(), message(&at(5), "hello"));
    assert_eq!(second.message(), message(&at(5), "hello"));
    say(&server, "again");
    assert_eq!(first.message(), message(&at(10), "again"));
}

#[test]
fn a_waiting_stream_shows_what_a_put_begins_with() {
    let server = TestServer::start();
    let mut follower = Follower::open(&server, "/stream");
    server.wait_for_followers(1);
    let made = put("default").header("Content-Type", "application/json").body("[1,{\"a\": 2}]");
    assert_eq!(server.call(&made).status, 201);
    assert_eq!(follower.message(), message(&at(1), "1"));
    assert_eq!(follower.message(), message(&at(9), "{\"a\": 2}"));
}

#[test]
fn post_obeys_a_default_stream_of_json() {
    let server = TestServer::start();
    server.create("default", "application/json");
    assert_problem(&say(&server, "hello"), 400, "invalid_json");
    assert_problem(&say(&server, "[]"), 400, "empty_body");
    assert_eq!(say(&server, "[1, [2], 3.50]").status, 200);
    let found = server.read("/");
    assert_eq!(
        (found.text().as_str(), found.header("Content-Type")),
        ("3.50", Some("application/json"))
    );
    let mut follower = Follower::open(&server, "/stream");
    for (end, data) in [(1, "1"), (4, "[2]"), (8, "3.50")] {
        assert_eq!(follower.message(), message(&at(end), data));
    }
}

#[test]
fn post_obeys_a_default_stream_of_bytes_and_stream_shows_base64() {
    let server = TestServer::start();
    server.create("default", "image/png");
    assert_eq!(say(&server, [0, 255, 10]).status, 200);
    assert_eq!(server.read("/").body, [0, 255, 10]);
    assert_eq!(Follower::open(&server, "/stream").message(), message(&at(3), "AP8K"));
}

#[test]
fn a_default_stream_that_was_deleted_is_text_again() {
    let server = TestServer::start();
    server.create("default", "application/json");
    assert_eq!(say(&server, "1").status, 200);
    let mut follower = Follower::open(&server, "/stream");
    assert_eq!(follower.message(), message(&at(1), "1"));
    server.delete("default");
    follower.assert_ended();
    assert_eq!(newest(&server), (204, String::new()));
    assert_eq!(say(&server, "plain").status, 200);
    assert_eq!(newest(&server), (200, "plain".to_owned()));
    assert_eq!(server.read("/").header("Content-Type"), Some("text/plain"));
}

/// `GET /` and `POST /` need nothing but each other, so what they make is always text.
#[test]
fn the_type_of_a_stream_that_is_gone_is_forgotten() {
    let server = TestServer::start();
    for content_type in ["text/html", "application/json", "image/png"] {
        server.create("default", content_type);
        assert_eq!(say(&server, "1").status, 200);
        server.delete("default");
        assert_eq!(say(&server, "2").status, 200);
        assert_eq!(server.read("/").header("Content-Type"), Some("text/plain"), "{content_type}");
        server.delete("default");
    }
}

/// The two paths promise plain HTTP, whatever happens on them.
#[test]
fn no_answer_carries_a_header_of_the_protocol() {
    let server = TestServer::start();
    let check = |answer: &Response| {
        for (name, value) in &answer.headers {
            let name = name.to_ascii_lowercase();
            let foreign = ["stream-", "producer-", "etag", "cross-origin-resource-policy"];
            assert!(!foreign.iter().any(|prefix| name.starts_with(prefix)), "{name}: {value}");
        }
    };
    check(&server.read("/"));
    check(&say(&server, ""));
    check(&say(&server, "a"));
    check(&server.read("/"));
    check(&Follower::open(&server, "/stream").head);
    check(&server.read("/stream?offset=nonsense"));
    server.call(&post("default").header("Stream-Closed", "true"));
    let refused = say(&server, "b");
    assert_problem(&refused, 409, "stream_closed");
    check(&refused);
    check(&Follower::open(&server, "/stream").head);
    server.delete("default");
    server.create("default", "image/png");
    check(&Follower::open(&server, "/stream").head);
}
