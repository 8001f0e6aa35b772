//! Closing: durable, one way, and seen by every reader.

use squall_testkit::http::Response;

use crate::support::{TestServer, assert_problem, at, path, post};

fn closed(found: &Response) -> Option<&str> {
    found.header("Stream-Closed")
}

#[test]
fn a_close_without_a_body_may_be_repeated() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    server.append("s", "text/plain", "a");
    let rows = [
        post("s").header("Stream-Closed", "true"),
        post("s").header("Stream-Closed", "TRUE"),
        // There is no body that the type could be of.
        post("s").header("Stream-Closed", "true").header("Content-Type", "image/png"),
    ];
    for request in rows {
        let found = server.call(&request);
        assert_eq!((found.status, closed(&found)), (204, Some("true")));
        assert_eq!(found.header("Stream-Next-Offset"), Some(&*at(1)));
    }
}

#[test]
fn a_closed_stream_takes_nothing_and_says_where_it_ends() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    server.append("s", "text/plain", "a");
    server.close("s");
    for request in [post("s"), post("s").header("Stream-Closed", "true")] {
        let refused = server.call(&request.header("Content-Type", "text/plain").body("b"));
        assert_problem(&refused, 409, "stream_closed");
        assert_eq!(closed(&refused), Some("true"));
        assert_eq!(refused.header("Stream-Next-Offset"), Some(&*at(1)));
    }
    assert_eq!(server.read(&path("s")).text(), "a");
}

#[test]
fn the_last_append_may_close() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    let request = post("s").header("Content-Type", "text/plain").header("Stream-Closed", "true");
    let found = server.call(&request.body("end"));
    assert_eq!((found.status, closed(&found)), (204, Some("true")));
    let read = server.read(&path("s"));
    assert_eq!((read.text().as_str(), closed(&read)), ("end", Some("true")));
    assert_eq!(read.header("Stream-Up-To-Date"), Some("true"));
}

#[test]
fn a_value_other_than_true_closes_nothing() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    for value in ["false", "1", "yes", ""] {
        let request = post("s").header("Content-Type", "text/plain");
        let found = server.call(&request.header("Stream-Closed", value).body("x"));
        assert_eq!((found.status, closed(&found)), (204, None), "{value}");
    }
    assert_eq!(server.read(&path("s")).text(), "xxxx");
}

#[test]
fn a_closed_stream_can_still_be_deleted() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    server.close("s");
    server.delete("s");
    server.create("s", "text/plain");
    assert_eq!(closed(&server.read(&path("s"))), None);
}
