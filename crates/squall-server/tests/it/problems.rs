//! Problems: one body for each error code, as clients see it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use squall_server::problem::ErrorCode;
use squall_stream::limits::StreamLimits;
use squall_stream::observer::{Health, UnreadyReason};
use squall_stream::request::StoreError;
use squall_testkit::faulty::{Fault, FaultyStore, Method, When};
use squall_testkit::http::{Request, Response};

use crate::follower::Follower;
use crate::support::{TestServer, at, path, post, put};

/// A stream ends at 10^16 bytes, which no test can reach.
const OUT_OF_REACH: &[&str] = &["offsets_exhausted"];

fn text(body: &str) -> Request {
    post("s").header("Content-Type", "text/plain").body(body)
}

fn produced(id: &str, epoch: &str, seq: &str) -> Request {
    let request = text("x").header("Producer-Id", id);
    request.header("Producer-Epoch", epoch).header("Producer-Seq", seq)
}

/// Mistakes in a request by itself.
fn of_requests() -> Vec<Response> {
    let server = TestServer::with(|config| config.event_bytes_max = 64);
    server.create("s", "text/plain");
    server.create("j", "application/json");
    let json =
        |body: &str| server.call(&post("j").header("Content-Type", "application/json").body(body));
    let mut connection = server.connect();
    let head =
        "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n";
    connection.send_bytes(head.as_bytes()).unwrap();
    let broken_body = connection.receive("POST").unwrap();
    let mut connection = server.connect();
    connection.send_bytes(b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n").unwrap();
    let bad_host = connection.receive("GET").unwrap();
    let mut connection = server.connect();
    connection.send_bytes(b"GET / HTTP/1.1\r\nHost: pages.example\r\n\r\n").unwrap();
    vec![
        connection.receive("GET").unwrap(),
        bad_host,
        broken_body,
        server.read(&path("a//b")),
        server.read(&format!("{}?offset=nonsense", path("s"))),
        server.read(&format!("{}?live=maybe", path("s"))),
        server.call(&put("t").header("Stream-TTL", "+60")),
        server.call(&post("s").body("x")),
        server.call(&text("")),
        json("{"),
        server.call(&text(&"x".repeat(65))),
        server.call(&text("x").header("Origin", "https://pages.example")),
        server.read("/nowhere"),
        server.call(&Request::new("DELETE", "/")),
        server.call(&put("t").header("Stream-Forked-From", "/v1/stream/s")),
    ]
}

/// Requests that do not fit the stream.
fn of_streams() -> Vec<Response> {
    let server = TestServer::with(|config| config.json_elements_max = 2);
    server.create("s", "text/plain");
    server.create("j", "application/json");
    let json =
        |body: &str| server.call(&post("j").header("Content-Type", "application/json").body(body));
    assert_eq!(json("[100]").status, 204);
    assert_eq!(server.call(&text("ab").header("Stream-Seq", "5")).status, 204);
    assert_eq!(server.call(&produced("w", "3", "0")).status, 200);
    let mut found = vec![
        json("[1,2,3]"),
        server.read("/v1/stream/missing"),
        server.read(&format!("{}?offset={}", path("s"), at(99))),
        server.read(&format!("{}?offset={}", path("j"), at(1))),
        server.call(&put("s")),
        server.call(&post("s").header("Content-Type", "text/html").body("x")),
        server.call(&text("x").header("Stream-Seq", "4")),
        server.call(&produced("w", "4", "7")),
        server.call(&produced("w", "3", "7")),
        server.call(&produced("w", "2", "0")),
    ];
    server.trim("s", 2);
    found.push(server.read(&format!("{}?offset={}", path("s"), at(1))));
    server.close("s");
    found.push(server.call(&text("x")));
    found
}

/// Limits that are reached.
fn of_limits() -> Vec<Response> {
    let limits = StreamLimits { producers_max: 1, ..StreamLimits::default() };
    let change = |config: &mut squall_server::ServerConfig| {
        config.followers_max = 1;
        config.body_pause_max = Duration::from_millis(10);
    };
    let server = TestServer::limited(limits, change, |store| store);
    server.create("s", "text/plain");
    assert_eq!(server.call(&produced("w", "0", "0")).status, 200);
    let mut connection = server.connect();
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf";
    connection.send_bytes(head.as_bytes()).unwrap();
    let slow = connection.receive("POST").unwrap();
    let _follower = Follower::open(&server, &format!("{}?live=events", path("s")));
    let full = TestServer::with(|config| config.connections_max = 0);
    vec![
        server.call(&produced("v", "0", "0")),
        slow,
        server.read(&format!("{}?live=long-poll&offset=now", path("s"))),
        full.read("/"),
    ]
}

/// A store in trouble.
fn of_the_store() -> Vec<Response> {
    let mut faulty = None;
    let server = TestServer::over(
        |_| {},
        |store| Arc::clone(faulty.insert(Arc::new(FaultyStore::new(store, 1)))) as _,
    );
    let faulty = faulty.unwrap();
    server.create("s", "text/plain");
    let mut found = Vec::new();
    for error in [
        StoreError::QueueFull { queue: "append" },
        StoreError::OutcomeUnknown,
        StoreError::Failed { reason: "secret".into() },
    ] {
        faulty.inject(Method::Append, When::Next(1), Fault::Refuse(error));
        found.push(server.call(&text("x")));
    }
    for reason in [
        UnreadyReason::DiskFull,
        UnreadyReason::WalFull,
        UnreadyReason::LockedOutside,
        UnreadyReason::ShuttingDown,
    ] {
        server.store.set_health(Health::Unready(reason));
        found.push(server.call(&text("x")));
    }
    found
}

/// The status, what may be told from headers, and the body, one member a line.
fn show(found: &Response) -> String {
    let mut shown = format!("{}\n", found.status);
    for (name, value) in &found.headers {
        let name = name.to_ascii_lowercase();
        let told = ["stream-", "producer-", "allow", "retry-after", "cache-control", "connection"];
        if told.iter().any(|start| name.starts_with(start)) {
            let random = name == "retry-after";
            shown.push_str(&format!("{name}: {}\n", if random { "(seconds)" } else { value }));
        }
    }
    let body: serde_json::Value = serde_json::from_slice(&found.body).unwrap();
    assert_eq!(body["status"], found.status);
    for name in ["type", "title", "detail", "hint"] {
        shown.push_str(&format!("{name}: {}\n", body[name].as_str().unwrap()));
    }
    shown
}

fn code(found: &Response) -> String {
    let body: serde_json::Value = serde_json::from_slice(&found.body).unwrap();
    assert_eq!(found.header("Content-Type"), Some("application/problem+json"));
    assert_eq!(body.as_object().unwrap().len(), 6, "{body}");
    body["code"].as_str().unwrap().to_owned()
}

#[test]
fn every_code_has_this_body() {
    let found = [of_requests(), of_streams(), of_limits(), of_the_store()].concat();
    let mut found: HashMap<String, Response> =
        found.into_iter().map(|response| (code(&response), response)).collect();
    let mut shown = String::new();
    for known in ErrorCode::ALL.iter().map(|known| known.as_str()) {
        match found.remove(known) {
            Some(response) => shown.push_str(&format!("## {known}\n{}\n", show(&response))),
            None => assert!(OUT_OF_REACH.contains(&known), "{known} was not provoked"),
        }
    }
    assert!(found.is_empty(), "{found:?}");
    // The number under which the log holds what the engine said.
    let (before, after) = shown.split_once("for error ").unwrap();
    let (id, after) = after.split_at(16);
    assert!(id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    insta::assert_snapshot!("problems", format!("{before}for error (id){after}"));
}
