//! `POST` on a stream: what is taken, what is refused, and what is stored byte for byte.

use squall_testkit::http::Request;

use crate::support::{TestServer, assert_problem, at, path, post};

fn text(body: &str) -> Request {
    post("s").header("Content-Type", "text/plain").body(body)
}

fn json(body: &str) -> Request {
    post("s").header("Content-Type", "application/json").body(body)
}

#[test]
fn an_append_is_answered_with_the_new_tail() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    for (body, tail) in [("a", 1), ("bc", 3), ("def", 6)] {
        let taken = server.call(&text(body));
        assert_eq!((taken.status, taken.body.len()), (204, 0));
        assert_eq!(taken.header("Stream-Next-Offset"), Some(&*at(tail)));
    }
    assert_eq!(server.read(&path("s")).text(), "abcdef");
}

#[test]
fn content_types_are_compared_without_case_and_parameters() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    let typed =
        |content_type: &str| server.call(&post("s").header("Content-Type", content_type).body("x"));
    assert_eq!(typed("TEXT/PLAIN").status, 204);
    assert_eq!(typed("text/plain; charset=utf-8").status, 204);
    assert_eq!(typed("text/plain;boundary=\"a/b\"").status, 204);
    assert_problem(&typed("text/html"), 409, "content_type_mismatch");
    assert_problem(&typed("application/octet-stream"), 409, "content_type_mismatch");
    assert_problem(&typed("text"), 400, "bad_header");
    assert_problem(&server.call(&post("s").body("x")), 400, "missing_content_type");
    assert_eq!(server.read(&path("s")).text(), "xxx");
}

#[test]
fn nothing_is_not_an_event() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    assert_problem(&server.call(&text("")), 400, "empty_body");
    assert_problem(&server.call(&post("s")), 400, "empty_body");
    assert_problem(&server.call(&text("").header("Stream-Closed", "no")), 400, "empty_body");
}

#[test]
fn a_stream_has_to_be_made_first() {
    let server = TestServer::start();
    assert_problem(&server.call(&text("x")), 404, "stream_not_found");
    assert_eq!(server.read(&path("s")).status, 404);
}

/// What is between the elements goes; not a byte inside of one is touched.
#[test]
fn json_is_flattened_by_one_level_and_kept_byte_for_byte() {
    let server = TestServer::start();
    server.create("s", "application/json");
    let rows = [
        ("{\"a\" : 1.50 }", "{\"a\" : 1.50 }"),
        (" [ 1 ,\n2.0e+1\t] ", "1,2.0e+1"),
        ("[[1, 2], []]", "[1, 2],[]"),
        (r#""\u00e9 \/ é""#, r#""\u00e9 \/ é""#),
        ("[12345678901234567890.10, null]", "12345678901234567890.10,null"),
        ("{\"b\": 1, \"a\": 2, \"a\": 3}", "{\"b\": 1, \"a\": 2, \"a\": 3}"),
    ];
    let mut stored = Vec::new();
    for (body, elements) in rows {
        assert_eq!(server.call(&json(body)).status, 204, "{body}");
        stored.push(elements);
        let expected = format!("[{}]", stored.join(","));
        assert_eq!(server.read(&path("s")).text(), expected);
    }
    let bytes: usize =
        ["{\"a\" : 1.50 }", "1", "2.0e+1", "[1, 2]", "[]"].map(str::len).iter().sum();
    assert_eq!(server.read(&format!("{}?offset={}", path("s"), at(bytes as u64))).status, 200);
}

#[test]
fn what_is_not_json_leaves_nothing_behind() {
    let server = TestServer::start();
    server.create("s", "application/json");
    for body in ["{", "[1,]", "1 2", "nope", "[1] x", "\u{feff}1", "'a'"] {
        assert_problem(&server.call(&json(body)), 400, "invalid_json");
    }
    assert_problem(&server.call(&json("[]")), 400, "empty_body");
    let lone = post("s").header("Content-Type", "application/json").body(b"\"\xff\"".to_vec());
    assert_problem(&server.call(&lone), 400, "invalid_json");
    assert_eq!(server.read(&path("s")).text(), "[]");
}

#[test]
fn bytes_are_stored_as_they_are() {
    let server = TestServer::start();
    server.create("s", "application/octet-stream");
    let all: Vec<u8> = (0..=255).collect();
    server.append("s", "application/octet-stream", all.clone());
    assert_eq!(server.read(&path("s")).body, all);
}

#[test]
fn a_chunked_body_is_one_event() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    let mut connection = server.connect();
    let head = "POST /v1/stream/s HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n\
        Transfer-Encoding: chunked\r\n\r\n";
    connection.send_bytes(head.as_bytes()).unwrap();
    for part in ["3\r\nabc\r\n", "2;x=y\r\nde\r\n", "0\r\nTrailer: t\r\n\r\n"] {
        connection.send_bytes(part.as_bytes()).unwrap();
    }
    let taken = connection.receive("POST").unwrap();
    assert_eq!((taken.status, taken.header("Stream-Next-Offset")), (204, Some(&*at(5))));
    // The connection goes on behind the last chunk.
    assert_eq!(connection.call(&Request::new("GET", "/v1/stream/s")).unwrap().text(), "abcde");
    let listed = server.read("/v1/streams").text();
    assert!(listed.contains("\"events\":1,"), "{listed}");
}

#[test]
fn a_body_and_an_array_have_limits() {
    let server = TestServer::with(|config| {
        config.event_bytes_max = 9;
        config.json_elements_max = 3;
    });
    server.create("s", "application/json");
    assert_eq!(server.call(&json("[1,2,3]")).status, 204);
    assert_problem(&server.call(&json("[1,2,3,4]")), 413, "too_many_elements");
    assert_problem(&server.call(&json("[1,2,3,45]")), 413, "body_too_large");
    let mut connection = server.connect();
    let head = "POST /v1/stream/s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Transfer-Encoding: chunked\r\n\r\n5\r\n\"aaaa\r\n5\r\nbbbb\"\r\n0\r\n\r\n";
    connection.send_bytes(head.as_bytes()).unwrap();
    assert_problem(&connection.receive("POST").unwrap(), 413, "body_too_large");
    assert_eq!(server.read(&path("s")).text(), "[1,2,3]");
}

/// Byte by byte, as text: a number that grows by a digit is no greater text.
#[test]
fn stream_seq_must_grow_as_text() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    let rows = [
        ("09", 204),
        ("10", 204),
        ("10", 409),
        ("09", 409),
        ("2", 204),
        ("10", 409),
        ("a", 204),
        ("B", 409),
        ("b", 204),
    ];
    for (seq, status) in rows {
        let found = server.call(&text("x").header("Stream-Seq", seq));
        assert_eq!(found.status, status, "{seq}");
        if status == 409 {
            assert_problem(&found, 409, "sequence_conflict");
        }
    }
    // Without the header nothing is compared.
    assert_eq!(server.call(&text("x")).status, 204);
    assert_eq!(server.read(&path("s")).text(), "xxxxxx");
    let long = server.call(&text("x").header("Stream-Seq", &"z".repeat(257)));
    assert_problem(&long, 400, "bad_header");
}

/// Of several conflicts the protocol names the first: closed, content type, sequence.
#[test]
fn conflicts_have_an_order() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    assert_eq!(server.call(&text("x").header("Stream-Seq", "5")).status, 204);
    let wrong = || {
        let request = post("s").header("Content-Type", "text/html");
        request.header("Stream-Seq", "1").body("y")
    };
    assert_problem(&server.call(&wrong()), 409, "content_type_mismatch");
    assert_problem(&server.call(&text("y").header("Stream-Seq", "1")), 409, "sequence_conflict");
    server.close("s");
    assert_problem(&server.call(&wrong()), 409, "stream_closed");
}

#[test]
fn other_methods_are_named_in_allow() {
    let server = TestServer::start();
    for (target, allow) in [
        ("/", "GET, HEAD, POST, OPTIONS"),
        ("/stream", "GET, HEAD, OPTIONS"),
        ("/v1/streams", "GET, HEAD, OPTIONS"),
        ("/v1/stream/s", "GET, HEAD, POST, PUT, DELETE, OPTIONS"),
    ] {
        let found = server.call(&Request::new("PATCH", target));
        assert_problem(&found, 405, "method_not_allowed");
        assert_eq!(found.header("Allow"), Some(allow), "{target}");
    }
}
