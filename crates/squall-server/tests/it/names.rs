//! Names of streams, as they come in a path.

use squall_testkit::http::Request;

use crate::support::{TestServer, assert_problem, path, put};

#[test]
fn a_name_may_be_encoded_in_any_way() {
    let server = TestServer::start();
    let same = [
        ("orders/eu%20west", "orders/%65u%20west"),
        ("a/b", "a%2Fb"),
        ("%E2%82%AC", "%e2%82%ac"),
        ("a+b", "a%2Bb"),
        ("q%3Fx", "%71%3fx"),
        ("..a", "%2e.a"),
    ];
    for (one, other) in same {
        server.create(one, "text/plain");
        server.append(other, "text/plain", "x");
        assert_eq!(server.read(&path(one)).text(), "x", "{one} {other}");
        let again = server.call(&put(other).header("Content-Type", "text/plain"));
        assert_eq!(again.status, 200, "{one} {other}");
    }
    // A plus is a plus in a path, and a slash that was encoded is one all the same.
    let listed = server.read("/v1/streams").text();
    for name in ["a+b", "a/b", "€", "orders/eu west", "q?x", "..a"] {
        assert!(listed.contains(&format!("\"name\":\"{name}\"")), "{name} {listed}");
    }
}

#[test]
fn a_query_is_no_part_of_the_name() {
    let server = TestServer::start();
    server.create("s?x=1", "text/plain");
    assert_eq!(server.read(&path("s")).status, 200);
}

#[test]
fn absurd_names_are_refused_by_every_method() {
    let server = TestServer::start();
    let long = "x".repeat(513);
    let absurd = [
        "",
        "/",
        "a//b",
        "a/",
        "/a",
        ".",
        "..",
        "a/../b",
        "a/%2e%2e/b",
        "a/./b",
        "%00",
        "a%0Ab",
        "a%7Fb",
        "%C2%85",
        "%ff",
        "%zz",
        "a%2",
        "a%",
        "%C3",
        "__ds",
        "__ds/subscriptions/x",
        "%5F_ds/x",
        &long,
    ];
    for name in absurd {
        for method in ["PUT", "POST", "GET", "HEAD", "DELETE"] {
            let found = server.call(&Request::new(method, &path(name)));
            assert_eq!(found.status, 400, "{method} {name:?}");
            if method != "HEAD" {
                assert_problem(&found, 400, "bad_name");
            }
        }
    }
    assert_eq!(server.read("/v1/streams").text(), "{\"streams\":[],\"next\":null}");
}

#[test]
fn the_longest_name_is_512_bytes_after_decoding() {
    let server = TestServer::start();
    server.create(&"x".repeat(512), "text/plain");
    server.create(&"%E2%82%AC".repeat(170), "text/plain");
    assert_problem(&server.call(&put(&"%E2%82%AC".repeat(171))), 400, "bad_name");
}

#[test]
fn there_is_nothing_beside_the_streams() {
    let server = TestServer::start();
    for target in ["/v1", "/v1/stream", "/v2/stream/s", "/streams", "/index.html", "/v1/streams/s"]
    {
        assert_problem(&server.read(target), 404, "not_found");
    }
}
