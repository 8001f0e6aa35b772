//! Heads that are too large, too slow, or no heads at all.

use std::time::Duration;

use squall_testkit::wait::{pause, wait_until};

use crate::raw::{Raw, exchange, statuses};
use crate::support::{PATIENCE, TestServer};

/// Fails unless the answer is a 4xx or a close, and others are served still.
fn refused(server: &TestServer, wire: impl AsRef<[u8]>) -> Vec<u16> {
    let wire = wire.as_ref();
    let mut raw = Raw::open(server);
    raw.try_send(wire);
    raw.end_sending_if_open();
    let found = statuses(&raw.receive_all());
    let start = String::from_utf8_lossy(&wire[..wire.len().min(100)]);
    assert!(matches!(found[..], [] | [400..=499]), "{start:?}: {found:?}");
    assert_eq!(server.read("/healthz").status, 200, "after {start:?}");
    found
}

fn get(target: &str, more: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n")
}

#[test]
fn a_head_is_as_large_as_it_may_be_and_no_larger() {
    let server = TestServer::start();
    let padded = |bytes: usize| {
        get("/healthz", &format!("X: {}\r\nConnection: close\r\n", "x".repeat(bytes)))
    };
    assert_eq!(statuses(&exchange(&server, padded(15_000))), [200]);
    assert_eq!(refused(&server, padded(20_000)), [431]);
    assert_eq!(statuses(&exchange(&server, padded(20_000))), [431]);
}

#[test]
fn headers_are_counted() {
    let server = TestServer::start();
    let many = |count: usize| {
        get("/healthz", &(0..count - 1).map(|i| format!("x{i}:\r\n")).collect::<String>())
    };
    let mut raw = Raw::open(&server);
    raw.send(many(100));
    raw.receive_until("200 OK");
    assert_eq!(statuses(&exchange(&server, many(101))), [431]);
    refused(&server, many(10_000));
}

#[test]
fn absurd_targets_and_methods_are_refused() {
    let server = TestServer::start();
    refused(&server, get(&format!("/{}", "a".repeat(64 * 1024)), ""));
    refused(&server, get(&format!("/{}", "a".repeat(70_000)), ""));
    for target in ["", "healthz", "//", "/\u{e9}", "/a b", "http://", "/%", "?", "*", "/v1/stream/"]
    {
        let mut raw = Raw::open(&server);
        raw.try_send(get(target, "Connection: close\r\n"));
        let found = statuses(&raw.receive_all());
        assert!(matches!(found[..], [] | [400..=499]), "{target:?}: {found:?}");
    }
    let long = "M".repeat(10_000);
    for method in ["", "G\0T", "get", "GET\t", "(", &long, "PRI", "CONNECT", "TRACE"] {
        refused(&server, format!("{method} / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    }
    for version in ["HTTP/2.0", "HTTP/0.9", "HTTP/1.10", "http/1.1", "HTTP/1.", "HTTP/11", ""] {
        refused(&server, format!("GET / {version}\r\nHost: localhost\r\n\r\n"));
    }
}

#[test]
fn malformed_header_lines_are_refused() {
    let server = TestServer::start();
    for line in [
        "a b: 1",
        "a : 1",
        ": 1",
        "a",
        "a\0: 1",
        "a: \0",
        "a: 1\r2",
        "a: 1\r\n folded",
        " a: 1",
        "\u{e9}: 1",
    ] {
        let found = refused(&server, get("/", &format!("{line}\r\n")));
        assert_eq!(found, [400], "{line:?}");
    }
    // Bare line feeds end lines for some parsers, never a request in the middle of a header.
    let bare = "GET / HTTP/1.1\nHost: localhost\nConnection: close\n\n";
    assert!(statuses(&exchange(&server, bare)).len() <= 1);
}

#[test]
fn a_request_names_one_host() {
    let server = TestServer::start();
    for hosts in ["", "Host: a\r\nHost: b\r\n", "Host: \r\n", "Host: a b\r\n", "Host: \u{e9}\r\n"] {
        assert_eq!(refused(&server, format!("GET / HTTP/1.1\r\n{hosts}\r\n")), [400], "{hosts:?}");
    }
    let foreign = "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n";
    assert_eq!(refused(&server, foreign), [421]);
}

/// What one server reads as one request must never be two.
#[test]
fn a_body_has_one_length() {
    let server = TestServer::start();
    let inner = "POST /smuggled HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
    let post = |lengths: &str, body: &str| {
        format!("POST / HTTP/1.1\r\nHost: localhost\r\n{lengths}\r\n{body}")
    };
    for lengths in [
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 6\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: -5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 5 5\r\n",
        "Content-Length:\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked, gzip\r\n",
        "Transfer-Encoding: \u{b}chunked\r\n",
    ] {
        let wire = post(lengths, &format!("0\r\n\r\n{inner}"));
        assert_eq!(refused(&server, wire).len(), 1, "{lengths:?}");
    }
    // Both: read as chunked. What follows the last chunk is the next request.
    let both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n";
    let chunked = format!("5\r\nhello\r\n0\r\n\r\n{inner}");
    let found = statuses(&exchange(&server, post(both, &chunked)));
    assert!(matches!(found[..], [200] | [400]), "{found:?}");
    let old = post(both, &chunked).replace("HTTP/1.1", "HTTP/1.0");
    assert!(statuses(&exchange(&server, old)).len() <= 1);
    assert!(!server.read("/v1/streams").text().contains("smuggled"));
}

#[test]
fn random_bytes_are_refused() {
    let server = TestServer::start();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..200 {
        let bytes: Vec<u8> = (0..round * 7)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state.to_be_bytes()[0]
            })
            .collect();
        refused(&server, bytes);
    }
    refused(&server, "\r\n".repeat(50_000));
    refused(&server, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\0\0\0\0\0\0garbage");
    refused(&server, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03");
}

/// A byte now and then holds a connection open no longer than a whole head may take.
#[test]
fn slow_heads_are_cut_while_others_are_served() {
    let server = TestServer::with(|config| config.head_max = Duration::from_millis(500));
    let mut slow: Vec<Raw> = (0..100).map(|_| Raw::open(&server)).collect();
    slow.iter_mut().for_each(|raw| raw.send("GET / HTTP/1.1\r\nHost: localhost\r\n"));
    let mut open = slow.len();
    let mut other = server.connect();
    let held = wait_until(PATIENCE, || {
        slow.retain_mut(|raw| raw.try_send("X: y\r\n"));
        open = slow.len();
        let healthy = squall_testkit::http::Request::new("GET", "/healthz");
        assert_eq!(other.call(&healthy).unwrap().status, 200);
        pause(Duration::from_millis(20));
        open == 0
    });
    assert!(held, "{open} slow clients are still connected");
}

#[test]
fn a_slow_head_is_cut_in_every_state() {
    let server = TestServer::with(|config| {
        config.head_max = Duration::from_millis(300);
        config.idle_max = Duration::from_millis(600);
    });
    let starts = ["G", "P", "PRI * HTTP/2.0\r\n", "\r\n", "GET / HTTP/1.1\r\nHost: loc"];
    let slow = starts.map(|start| {
        let mut raw = Raw::open(&server);
        raw.send(start);
        raw
    });
    for (start, mut raw) in starts.iter().zip(slow) {
        assert_eq!(raw.receive_all(), "", "{start:?}");
    }
    let mut second = Raw::open(&server);
    second.send(get("/healthz", "") + "GET / HT");
    assert_eq!(statuses(&second.receive_all()), [200]);
}
