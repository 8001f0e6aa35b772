//! Where a reply ends.

use std::time::Duration;

use squall_load::spec::{LoadSpec, RequestSpec};
use squall_testkit::scripted::{After, Script, ScriptedServer, Step, reply};

use crate::support::{answering, assert_all_ok, expect_body, heads, load, playing, request, run};

/// Replies to three requests, pipelined or not: one without a body, then one with, that must be
/// taken for what it is.
fn check_aligned(head: &str, status: u16) {
    for pipeline in [1, 4] {
        let empty = Step::Send(format!("HTTP/1.1 {head}\r\n\r\n").into_bytes());
        let full = Step::Send(reply(200, "HTTP/1.1 500 no\r\n\r\n"));
        let steps = [Step::Request, empty.clone(), Step::Request, full, Step::Request, empty];
        let server = ScriptedServer::start(Script::new().connection(steps, After::Stall));
        let record = run(&LoadSpec { pipeline, ..load(&server.url("/"), 3) });
        assert_all_ok(&record, 3);
        assert_eq!(record.status_codes[&status], 2, "{head}");
        let body = record.body.unwrap();
        assert_eq!((body.bytes_min, body.bytes_max), (0, 19), "{head}");
        assert_eq!(server.record().accepted(), 1, "{head}");
    }
}

/// RFC 9112 §6.3: 204 and 304 have no body, whatever their headers say.
#[test]
fn a_reply_that_has_no_body_leaves_the_next_one_aligned() {
    check_aligned("204 No Content", 204);
    check_aligned("204 No Content\r\nContent-Length: 0", 204);
    check_aligned("204 No Content\r\nTransfer-Encoding: chunked", 204);
    check_aligned("304 Not Modified", 304);
    check_aligned("304 Not Modified\r\nContent-Length: 1234", 304);
    check_aligned("201 Created\r\nContent-Length: 0", 201);
}

/// wrk#462, wrk#118: a body that ends with its connection is a whole one.
#[test]
fn a_reply_without_a_length_ends_with_its_connection() {
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    let bytes = [head.as_bytes(), b"all of it"].concat();
    let server = playing([Step::Request, Step::Send(bytes)]);
    let spec = LoadSpec { expect: expect_body("all of it"), ..load(&server.url("/"), 5) };
    let record = run(&spec);
    assert_all_ok(&record, 5);
    assert_eq!(record.connections.opened, 5);
    assert_eq!(record.connections.closed_by_server, 5);
    assert_eq!(server.record().accepted(), 5);
}

/// HTTP/1.0 servers often say nothing at all about the end (RFC 9112 §9.3).
#[test]
fn a_reply_of_http_1_0_ends_with_its_connection() {
    let bytes = b"HTTP/1.0 200 OK\r\nServer: old\r\n\r\nall of it".to_vec();
    let server = playing([Step::Request, Step::Send(bytes)]);
    let spec = LoadSpec { expect: expect_body("all of it"), ..load(&server.url("/"), 3) };
    assert_all_ok(&run(&spec), 3);
    assert_eq!(server.record().accepted(), 3);
}

/// The connection is only used again if both sides say so.
#[test]
fn a_load_of_http_1_0_keeps_a_connection_that_the_server_keeps() {
    let check = |header: &str, keep_alive, connections| {
        let bytes = format!("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n{header}\r\nok");
        let server = answering(bytes);
        let spec = LoadSpec { http10: true, keep_alive, ..load(&server.url("/"), 4) };
        let record = run(&spec);
        assert_all_ok(&record, 4);
        assert_eq!(record.connections.opened, connections, "{header:?}, {keep_alive}");
        let heads = heads(&server.stop());
        for head in &heads {
            assert!(head.starts_with("GET / HTTP/1.0\r\n"), "{head}");
            let says_so = head.to_ascii_lowercase().contains("connection: keep-alive\r\n");
            assert_eq!(says_so, keep_alive, "{head}");
        }
    };
    check("Connection: keep-alive\r\n", true, 1);
    check("", true, 4);
    check("", false, 4);
}

#[test]
fn a_chunked_body_is_the_same_wherever_it_is_split() {
    let bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        3;name=value\r\nall\r\n04 ; a=\"b;\\\"c\"\r\n of \r\nB\r\n0\r\n\r\n3\r\nit!\r\n\
        00;last\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n";
    let portions = 1..=24;
    let steps: Vec<Step> = portions
        .clone()
        .flat_map(|portion| {
            let (bytes, pause) = (bytes.as_bytes().to_vec(), Duration::ZERO);
            [Step::Request, Step::SendSplit { bytes, portion, pause }]
        })
        .collect();
    let count = portions.count() as u64;
    let server = ScriptedServer::start(Script::new().connection(steps, After::Stall));
    let expect = expect_body("all of 0\r\n\r\n3\r\nit!");
    assert_all_ok(&run(&LoadSpec { expect, ..load(&server.url("/"), count) }), count);
    assert_eq!(server.record().accepted(), 1);
}

/// Interim replies (RFC 9110 §15.2) are part of the reply that they come before.
#[test]
fn interim_replies_answer_nothing() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\n\
        HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nContent-Length: 9\r\n\r\n";
    let server = answering([interim.as_bytes(), &reply(200, "ok")].concat());
    let spec = LoadSpec { pipeline: 4, expect: expect_body("ok"), ..load(&server.url("/"), 8) };
    let record = run(&spec);
    assert_all_ok(&record, 8);
    assert_eq!(record.status_codes, [(200, 8)].into());
}

/// RFC 9110 §9.3.2: the length in a reply to HEAD is that of a body that does not come.
#[test]
fn a_reply_to_head_has_no_body() {
    for pipeline in [1, 4] {
        let server = answering("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n");
        let mut spec = LoadSpec { pipeline, ..load(&server.url("/"), 8) };
        spec.requests[0].method = Some("HEAD".to_owned());
        let record = run(&spec);
        assert_all_ok(&record, 8);
        assert_eq!(record.body.unwrap().bytes_max, 0);
        assert_eq!(server.record().accepted(), 1);
    }
}

#[test]
fn replies_to_head_and_to_get_are_told_apart_in_one_pipeline() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n".to_vec();
    let get = [head.as_slice(), b"Hello, world"].concat();
    let steps = [Step::Requests(4), Step::Send([&head[..], &get, &head, &get].concat())];
    let server = ScriptedServer::start(Script::new().connection(steps, After::Repeat));
    let url = server.url("/");
    let method = |method: &str| RequestSpec { method: Some(method.to_owned()), ..request(&url) };
    let requests = vec![method("GET"), method("HEAD")];
    let record = run(&LoadSpec { requests, pipeline: 4, ..load(&url, 8) });
    let sent: Vec<String> =
        heads(&server.record()).iter().map(|head| head[..4].to_owned()).collect();
    assert_eq!(sent, ["HEAD", "GET "].repeat(4), "the script answers in this order");
    assert_all_ok(&record, 8);
    assert_eq!(record.body.unwrap().bytes_mean, 6.0);
}

/// Whatever cannot be told apart is a failure of its own kind, and costs the connection.
#[test]
fn bytes_that_are_no_reply_fail_as_framing() {
    let check = |bytes: &str| {
        let server = answering(bytes);
        let record = run(&load(&server.url("/"), 2));
        let ledger = &record.ledger;
        assert_eq!((ledger.ok, ledger.failures.framing), (0, 2), "{bytes:?}: {ledger:?}");
        assert_eq!(record.connections.closed_by_client, 2, "{bytes:?}");
    };
    check("SSH-2.0-OpenSSH_9.6\r\n");
    check("HTTP/2 200\r\n\r\n");
    check("HTTP/1.1 two hundred\r\n\r\n");
    check("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n");
    check("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab");
    check("HTTP/1.1 200 OK\r\nno colon\r\n\r\n");
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n");
}

/// Replies before the one that breaks the rules count; those behind it cannot be told apart.
#[test]
fn a_broken_reply_in_a_pipeline_spares_those_before_it() {
    let bytes = [&reply(200, "1")[..], &reply(200, "2"), b"HTTP/9\r\n\r\n", &reply(200, "4")];
    let server = ScriptedServer::start(
        Script::new()
            .connection([Step::Requests(4), Step::Send(bytes.concat())], After::Stall)
            .each_connection([Step::Request, Step::Send(reply(200, "5"))])
            .then(After::Repeat),
    );
    let record = run(&LoadSpec { pipeline: 4, ..load(&server.url("/"), 8) });
    assert_eq!((record.ledger.ok, record.ledger.failures.framing), (6, 2), "{:?}", record.ledger);
}

/// Nobody asked for them, so they belong to no request; the connection cannot be trusted.
#[test]
fn bytes_behind_the_last_reply_cost_the_connection_and_no_request() {
    for more in ["junk", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"] {
        let server = answering([&reply(200, "ok")[..], more.as_bytes()].concat());
        let record = run(&load(&server.url("/"), 3));
        assert_all_ok(&record, 3);
        assert_eq!(record.connections.opened, 3, "{more:?}");
        let is_said = record.warnings.iter().any(|warning| warning.contains("nobody had asked"));
        assert!(is_said, "{:?}", record.warnings);
    }
}

/// Some servers of old send an empty line behind a body (RFC 9112 §2.2 is lenient about it too).
#[test]
fn empty_lines_between_replies_are_no_bytes_at_all() {
    let server = answering([&reply(200, "ok")[..], b"\r\n\r\n"].concat());
    let record = run(&LoadSpec { pipeline: 4, ..load(&server.url("/"), 8) });
    assert_all_ok(&record, 8);
    assert_eq!(record.connections.opened, 1);
}
