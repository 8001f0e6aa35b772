//! Hosts and origins: what a web page may do to a server on the same machine.

use squall_server::access::OriginRule;
use squall_testkit::http::{Request, Response};

use crate::support::{TestServer, assert_problem, path, post, put};

fn over(server: &TestServer, host: &str, request: &str) -> Response {
    let mut connection = server.connect();
    let line_and_host = format!("{request} HTTP/1.1\r\n{host}\r\n");
    connection.send_bytes(line_and_host.as_bytes()).unwrap();
    connection.receive("GET").unwrap()
}

fn allowing(origins: &[&str]) -> TestServer {
    let origins: Vec<String> = origins.iter().map(|origin| (*origin).to_owned()).collect();
    let server = TestServer::with(|config| config.origins = OriginRule::parse(&origins).unwrap());
    server.create("s", "text/plain");
    server
}

/// What the reply lets pages of a foreign origin do.
fn allowed(found: &Response) -> Option<&str> {
    found.header("Access-Control-Allow-Origin")
}

fn listed(found: &Response, header: &str, wanted: &str) -> bool {
    let list = found.header(header).unwrap_or_default();
    list.split(',').any(|name| name.trim().eq_ignore_ascii_case(wanted))
}

const FOREIGN: &str = "https://pages.example";

#[test]
fn a_loopback_server_answers_to_loopback_names_alone() {
    let server = TestServer::with(|config| config.hosts.named = vec!["events.example".into()]);
    for host in
        ["127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:80", "a.localhost", "Events.Example:8"]
    {
        assert_eq!(
            over(&server, &format!("Host: {host}\r\n"), "GET /healthz").status,
            200,
            "{host}"
        );
    }
    // A name that was bound to 127.0.0.1 later is how foreign pages get in.
    for host in ["pages.example", "127.0.0.1.pages.example", "10.0.0.1", "localhost.example"] {
        let found = over(&server, &format!("Host: {host}\r\n"), "GET /healthz");
        assert_problem(&found, 421, "foreign_host");
    }
    let absolute = over(&server, "Host: localhost\r\n", "GET http://pages.example/healthz");
    assert_problem(&absolute, 421, "foreign_host");
    for hosts in ["", "Host: localhost\r\nHost: localhost\r\n", "Host: a b\r\n", "Host:\r\n"] {
        assert_problem(&over(&server, hosts, "GET /healthz"), 400, "bad_host");
    }
}

#[test]
fn a_public_server_answers_to_any_name() {
    let server = TestServer::with(|config| config.hosts.loopback_only = false);
    assert_eq!(over(&server, "Host: pages.example\r\n", "GET /healthz").status, 200);
}

#[test]
fn a_foreign_page_changes_nothing() {
    let server = allowing(&[]);
    let requests = [
        Request::new("POST", "/").body("x"),
        post("s").header("Content-Type", "text/plain").body("x"),
        put("t"),
        Request::new("DELETE", &path("s")),
    ];
    for request in requests {
        for origin in [FOREIGN, "null", "http://localhost.example", "nonsense"] {
            let found = server.call(&request.clone().header("Origin", origin));
            assert_problem(&found, 403, "foreign_origin");
            assert_eq!(allowed(&found), None);
        }
    }
    assert_eq!(server.read(&path("s")).text(), "");
    assert_eq!(server.read("/").status, 204);
}

/// A browser keeps such an answer from the page by itself: it carries no permission.
#[test]
fn a_foreign_page_reads_nothing() {
    let server = allowing(&[]);
    for target in ["/", "/v1/streams", "/v1/stream/s"] {
        let found = server.call(&Request::new("GET", target).header("Origin", FOREIGN));
        assert!(found.status < 300);
        assert_eq!(allowed(&found), None, "{target}");
        let policy = target.starts_with("/v1/").then_some("same-origin");
        assert_eq!(found.header("Cross-Origin-Resource-Policy"), policy);
    }
}

#[test]
fn loopback_pages_and_the_servers_own_may_do_all() {
    let server = allowing(&[]);
    for origin in ["http://localhost:3000", "http://127.0.0.1:5173", "https://[::1]"] {
        let append = post("s").header("Content-Type", "text/plain").header("Origin", origin);
        let found = server.call(&append.body("x"));
        assert_eq!((found.status, allowed(&found)), (204, Some(origin)));
    }
    let public = TestServer::with(|config| config.hosts.loopback_only = false);
    let own = "Host: events.example:8080\r\nOrigin: http://events.example:8080\r\n";
    assert_eq!(
        over(&public, &format!("{own}Content-Length: 0\r\n"), "PUT /v1/stream/s").status,
        201
    );
}

#[test]
fn a_named_origin_may_do_all_and_others_nothing() {
    let server = allowing(&[FOREIGN]);
    let from = |origin: &str| {
        let append = post("s").header("Content-Type", "text/plain").header("Origin", origin);
        server.call(&append.body("x"))
    };
    let found = from(FOREIGN);
    assert_eq!((found.status, allowed(&found)), (204, Some(FOREIGN)));
    for origin in ["http://pages.example", "https://pages.example:8443", "https://a.pages.example"]
    {
        assert_problem(&from(origin), 403, "foreign_origin");
    }
    // What one origin may read must not be handed to another out of a cache.
    let read = server.call(&Request::new("GET", &path("s")).header("Origin", FOREIGN));
    assert!(listed(&read, "Vary", "origin"));
}

#[test]
fn a_star_lets_everyone_in() {
    let server = allowing(&["*"]);
    for origin in [FOREIGN, "null"] {
        let append = post("s").header("Content-Type", "text/plain").header("Origin", origin);
        let found = server.call(&append.body("x"));
        assert_eq!((found.status, allowed(&found)), (204, Some("*")));
        assert_eq!(found.header("Cross-Origin-Resource-Policy"), Some("cross-origin"));
        assert_eq!(found.header("Access-Control-Allow-Credentials"), None);
    }
}

/// A page that cannot read these headers cannot go on where it stopped. The official Rust
/// server of Durable Streams sent none of them in version 0.1.5.
#[test]
fn pages_may_read_what_they_need_to_resume() {
    let server = allowing(&["*"]);
    let with_origin = |target: &str| Request::new("GET", target).header("Origin", FOREIGN);
    let answers = [
        server.call(&with_origin(&path("s"))),
        server.call(&with_origin(&format!("{}?offset=nonsense", path("s")))),
        server.call(&with_origin("/v1/stream/missing")),
    ];
    for found in answers {
        for name in [
            "Stream-Next-Offset",
            "Stream-Up-To-Date",
            "Stream-Closed",
            "Stream-Cursor",
            "Stream-Earliest-Offset",
            "Stream-SSE-Data-Encoding",
            "Producer-Epoch",
            "Producer-Seq",
            "Producer-Expected-Seq",
            "Producer-Received-Seq",
            "ETag",
            "Location",
            "Retry-After",
        ] {
            assert!(listed(&found, "Access-Control-Expose-Headers", name), "{name}");
        }
    }
}

#[test]
fn a_preflight_allows_what_the_protocol_needs() {
    let server = allowing(&["*"]);
    let ask = Request::new("OPTIONS", &path("s"))
        .header("Origin", FOREIGN)
        .header("Access-Control-Request-Method", "GET")
        .header("Access-Control-Request-Headers", "if-none-match");
    let found = server.call(&ask);
    assert_eq!((found.status, allowed(&found)), (204, Some("*")));
    for method in ["GET", "HEAD", "POST", "PUT", "DELETE"] {
        assert!(listed(&found, "Access-Control-Allow-Methods", method), "{method}");
    }
    for name in [
        "If-None-Match",
        "Content-Type",
        "Last-Event-ID",
        "Stream-Closed",
        "Stream-Seq",
        "Stream-TTL",
        "Stream-Expires-At",
        "Producer-Id",
        "Producer-Epoch",
        "Producer-Seq",
        "Cache-Control",
    ] {
        assert!(listed(&found, "Access-Control-Allow-Headers", name), "{name}");
    }
}

/// It only says what is allowed, so it is answered whoever asks.
#[test]
fn a_preflight_is_never_refused_and_grants_a_foreign_page_nothing() {
    let server = allowing(&[]);
    for target in ["/", "/stream", "/v1/stream/s", "/v1/stream/missing", "/nowhere", "*"] {
        let found = server.call(&Request::new("OPTIONS", target).header("Origin", FOREIGN));
        assert_eq!((found.status, allowed(&found)), (204, None), "{target}");
        assert_eq!(found.header("Access-Control-Allow-Methods"), None);
        assert!(found.header("Allow").unwrap().contains("GET"));
    }
}

/// A public page that reaches into a private network asks for that as well.
#[test]
fn a_page_of_another_network_needs_the_same_permission() {
    let ask = Request::new("OPTIONS", &path("s"))
        .header("Origin", FOREIGN)
        .header("Access-Control-Request-Private-Network", "true");
    let header = "Access-Control-Allow-Private-Network";
    assert_eq!(allowing(&[FOREIGN]).call(&ask).header(header), Some("true"));
    assert_eq!(allowing(&[]).call(&ask).header(header), None);
}

#[test]
fn every_answer_says_that_its_type_is_not_to_be_guessed() {
    let server = allowing(&[]);
    let requests = [
        Request::new("GET", "/"),
        Request::new("GET", &path("s")),
        Request::new("GET", "/nowhere"),
        Request::new("DELETE", &path("missing")),
        Request::new("OPTIONS", "/"),
        Request::new("GET", "/metrics"),
        put("u"),
    ];
    for request in requests {
        assert_eq!(server.call(&request).header("X-Content-Type-Options"), Some("nosniff"));
    }
}
