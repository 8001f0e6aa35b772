//! `PUT` and `HEAD` on a stream: making one, confirming one, and what it is.

use squall_testkit::http::Request;

use crate::support::{TestServer, assert_problem, at, path, put};

fn text(name: &str) -> Request {
    put(name).header("Content-Type", "text/plain")
}

#[test]
fn a_stream_is_made_once_and_confirmed_after_that() {
    let server = TestServer::start();
    for status in [201, 200, 200] {
        let answer = server.call(&text("a/b"));
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("Content-Type"), Some("text/plain"));
        assert_eq!(answer.header("Stream-Next-Offset"), Some(&*at(0)));
        assert_eq!(answer.header("Stream-Closed"), None);
    }
    let same = put("a/b").header("Content-Type", "TEXT/Plain; charset=utf-8");
    assert_eq!(server.call(&same).status, 200);
}

#[test]
fn another_configuration_is_refused() {
    let server = TestServer::start();
    server.call(&text("s").header("Stream-TTL", "60"));
    let others = [
        put("s").header("Stream-TTL", "60"),
        put("s").header("Content-Type", "text/html").header("Stream-TTL", "60"),
        text("s"),
        text("s").header("Stream-TTL", "61"),
        text("s").header("Stream-Expires-At", "2999-01-01T00:00:00Z"),
        text("s").header("Stream-TTL", "60").header("Stream-Closed", "true"),
    ];
    for request in others {
        assert_problem(&server.call(&request), 409, "stream_exists");
    }
    assert_eq!(server.call(&text("s").header("Stream-TTL", "60")).status, 200);
}

#[test]
fn a_stream_without_a_content_type_holds_bytes() {
    let server = TestServer::start();
    let made = server.call(&put("s"));
    assert_eq!(made.header("Content-Type"), Some("application/octet-stream"));
    let named = put("s").header("Content-Type", "application/octet-stream");
    assert_eq!(server.call(&named).status, 200);
}

/// A client must be able to follow it as it stands, so it names the host that was asked.
#[test]
fn location_is_the_absolute_url_that_was_asked_for() {
    let server = TestServer::start();
    let made = server.call(&text("a%20b/%E2%82%AC"));
    let expected = format!("http://{}/v1/stream/a%20b/%E2%82%AC", server.address);
    assert_eq!(made.header("Location"), Some(&*expected));
    let mut connection = server.connect();
    let head =
        "PUT /v1/stream/t HTTP/1.1\r\nHost: events.localhost:81\r\nContent-Length: 0\r\n\r\n";
    connection.send_bytes(head.as_bytes()).unwrap();
    let made = connection.receive("PUT").unwrap();
    assert_eq!(made.header("Location"), Some("http://events.localhost:81/v1/stream/t"));
}

#[test]
fn a_body_is_the_first_content() {
    let server = TestServer::start();
    let made = server.call(&text("s").body("hello"));
    assert_eq!((made.status, made.header("Stream-Next-Offset")), (201, Some(&*at(5))));
    // Confirmed, not appended to.
    let again = server.call(&text("s").body("hello"));
    assert_eq!((again.status, again.header("Stream-Next-Offset")), (200, Some(&*at(5))));
    assert_eq!(server.read(&path("s")).text(), "hello");
}

#[test]
fn the_first_content_of_a_json_stream_is_flattened() {
    let server = TestServer::start();
    let json = |name: &str, body: &str| {
        server.call(&put(name).header("Content-Type", "application/json").body(body))
    };
    for (name, body, tail, read) in [
        ("empty", "[]", 0, "[]"),
        ("one", "{\"a\" : 1}", 9, "[{\"a\" : 1}]"),
        ("many", "[1,[2, 3]]", 7, "[1,[2, 3]]"),
    ] {
        let made = json(name, body);
        assert_eq!((made.status, made.header("Stream-Next-Offset")), (201, Some(&*at(tail))));
        assert_eq!(server.read(&path(name)).text(), read);
    }
    assert_problem(&json("broken", "[1,"), 400, "invalid_json");
    assert_eq!(server.read(&path("broken")).status, 404);
}

#[test]
fn a_stream_may_be_closed_from_the_start() {
    let server = TestServer::start();
    let closed = || text("s").header("Stream-Closed", "TRUE");
    let made = server.call(&closed().body("all"));
    assert_eq!((made.status, made.header("Stream-Closed")), (201, Some("true")));
    assert_eq!(server.call(&closed()).status, 200);
    assert_problem(&server.call(&text("s")), 409, "stream_exists");
    let read = server.read(&path("s"));
    assert_eq!((read.text().as_str(), read.header("Stream-Closed")), ("all", Some("true")));
    // Any other value is as if it were not there.
    let open = server.call(&text("t").header("Stream-Closed", "yes"));
    assert_eq!((open.status, open.header("Stream-Closed")), (201, None));
}

#[test]
fn a_time_to_live_is_plain_decimal() {
    let server = TestServer::start();
    for wrong in ["+60", "00060", "60.5", "1e3", "-1", "abc", ""] {
        let refused = server.call(&text("s").header("Stream-TTL", wrong));
        assert_problem(&refused, 400, "bad_header");
    }
    let both = text("s").header("Stream-TTL", "60");
    let both = both.header("Stream-Expires-At", "2999-01-01T00:00:00Z");
    assert_problem(&server.call(&both), 400, "bad_header");
    let twice = text("s").header("Stream-TTL", "60").header("Stream-TTL", "60");
    assert_problem(&server.call(&twice), 400, "bad_header");
    assert_eq!(server.read(&path("s")).status, 404);
}

#[test]
fn an_instant_is_one_whatever_the_time_zone() {
    let server = TestServer::start();
    for wrong in ["", "tomorrow", "2999-01-01", "2999-13-01T00:00:00Z"] {
        let refused = server.call(&text("s").header("Stream-Expires-At", wrong));
        assert_problem(&refused, 400, "bad_header");
    }
    let at = |instant: &str| server.call(&text("s").header("Stream-Expires-At", instant)).status;
    assert_eq!(at("2999-01-01T00:00:00Z"), 201);
    assert_eq!(at("2999-01-01T02:30:00+02:30"), 200);
    assert_eq!(at("2999-01-01T00:00:01Z"), 409);
}

#[test]
fn head_shows_what_a_stream_is() {
    let server = TestServer::start();
    let head = |name: &str| server.call(&Request::new("HEAD", &path(name)));
    server.call(&text("ttl").header("Stream-TTL", "3600").body("abc"));
    let found = head("ttl");
    assert_eq!(found.status, 200);
    assert_eq!(found.header("Content-Type"), Some("text/plain"));
    assert_eq!(found.header("Stream-Next-Offset"), Some(&*at(3)));
    assert_eq!(found.header("Stream-TTL"), Some("3600"));
    assert_eq!(found.header("Cache-Control"), Some("no-store"));
    server.call(&text("at").header("Stream-Expires-At", "2999-01-01T00:00:00Z"));
    assert_eq!(head("at").header("Stream-Expires-At"), Some("2999-01-01T00:00:00Z"));
    server.close("ttl");
    assert_eq!(head("ttl").header("Stream-Closed"), Some("true"));
    assert_eq!(head("missing").status, 404);
}

#[test]
fn a_stream_whose_time_is_over_is_gone_and_its_name_free() {
    let server = TestServer::start();
    let past = || text("s").header("Stream-Expires-At", "1999-01-01T00:00:00Z").body("old");
    assert_eq!(server.call(&past()).status, 201);
    assert_problem(&server.read(&path("s")), 404, "stream_not_found");
    assert_eq!(server.call(&text("t").header("Stream-TTL", "0")).status, 201);
    for method in ["HEAD", "DELETE"] {
        assert_eq!(server.call(&Request::new(method, &path("t"))).status, 404);
    }
    assert_eq!(server.call(&text("s")).status, 201);
    assert_eq!(server.read(&path("s")).text(), "");
}

#[test]
fn a_stream_made_again_shows_nothing_of_the_old_one() {
    let server = TestServer::start();
    server.call(&text("s").body("old"));
    server.delete("s");
    for method in ["GET", "HEAD", "DELETE"] {
        assert_eq!(server.call(&Request::new(method, &path("s"))).status, 404);
    }
    server.create("s", "application/json");
    assert_eq!(server.read(&path("s")).text(), "[]");
}

#[test]
fn forks_are_refused_rather_than_made_as_plain_streams() {
    let server = TestServer::start();
    for name in ["Stream-Forked-From", "Stream-Fork-Offset", "Stream-Fork-Sub-Offset"] {
        assert_problem(&server.call(&text("f").header(name, "s")), 501, "not_implemented");
    }
    assert_eq!(server.read(&path("f")).status, 404);
}
