//! What arrives at the server.

use std::collections::BTreeSet;

use squall_load::spec::{BodySpec, LoadSpec, RequestSpec};
use squall_testkit::scripted::reply;

use crate::support::{answering, assert_all_ok, bodies, heads, load, request, run};

#[test]
fn a_request_says_what_it_must_and_what_it_was_told_to() {
    let server = answering(reply(200, "ok"));
    let spec = LoadSpec {
        headers: vec![("X-Tenant".to_owned(), "7".to_owned())],
        body: BodySpec::Text("hello".to_owned()),
        ..load(&server.url("/orders?page=2"), 1)
    };
    assert_all_ok(&run(&spec), 1);
    let address = server.address();
    let record = server.stop();
    let expected = format!(
        "POST /orders?page=2 HTTP/1.1\r\nHost: {address}\r\nX-Tenant: 7\r\n\
         Content-Length: 5\r\n\r\n"
    );
    assert_eq!(heads(&record), [expected]);
    assert_eq!(bodies(&record), [b"hello"]);
}

#[test]
fn requests_are_mixed_by_their_weights_to_the_request() {
    let server = answering(reply(200, "ok"));
    let often = RequestSpec { weight: 9, ..request(&server.url("/often")) };
    let requests = vec![often, request(&server.url("/seldom"))];
    let spec = LoadSpec { requests, pipeline: 4, ..load(&server.url("/"), 200) };
    assert_all_ok(&run(&spec), 200);
    let heads = heads(&server.stop());
    let count = |start: &str| heads.iter().filter(|head| head.starts_with(start)).count();
    assert_eq!((count("GET /often "), count("GET /seldom ")), (180, 20));
}

/// Threads and connections share one sequence: every number is used once.
#[test]
fn a_sequence_counts_every_request_once() {
    let server = answering(reply(200, "ok"));
    let spec = LoadSpec {
        connections: 4,
        threads: Some(2),
        pipeline: 3,
        ..load(&server.url("/items/{{seq:1000}}"), 100)
    };
    assert_all_ok(&run(&spec), 100);
    let heads = heads(&server.stop());
    let numbers: BTreeSet<&str> = heads.iter().filter_map(|head| head.get(11..15)).collect();
    let expected: Vec<String> = (1_000..1_100).map(|number| number.to_string()).collect();
    assert_eq!(numbers.len(), 100, "{numbers:?}");
    assert!(numbers.iter().all(|number| expected.iter().any(|other| other == number)));
}

#[test]
fn fields_are_filled_in_headers_and_bodies() {
    let server = answering(reply(200, "ok"));
    let spec = LoadSpec {
        headers: vec![("X-Number".to_owned(), "{{seq:07}}".to_owned())],
        body: BodySpec::Text("{{random:1..6}} {{now_ns}} {{stamp:80}}".to_owned()),
        pipeline: 2,
        ..load(&server.url("/"), 20)
    };
    let before_ns = squall_testkit::scripted::monotonic_ns();
    assert_all_ok(&run(&spec), 20);
    let after_ns = squall_testkit::scripted::monotonic_ns();
    let record = server.stop();
    let mut dice = BTreeSet::new();
    for (number, (head, body)) in heads(&record).iter().zip(bodies(&record)).enumerate() {
        let header = format!("\r\nX-Number: {:02}\r\n", number + 7);
        assert!(head.contains(&header), "{head}");
        assert!(head.contains("\r\nContent-Length: 103\r\n"), "{head}");
        let text = String::from_utf8(body).unwrap();
        let parts: Vec<&str> = text.split_whitespace().collect();
        dice.insert(parts[0].parse::<u64>().unwrap());
        let time_ns: u64 = parts[1].parse().unwrap();
        assert!((before_ns..after_ns).contains(&time_ns), "{text}");
        assert_eq!(parts[2], "squall-stamp");
        assert_eq!(parts[4].parse::<usize>().unwrap(), number, "{text}");
        assert_eq!(parts[5].parse::<u64>().unwrap(), time_ns, "{text}");
        assert_eq!(text.len(), 103);
    }
    assert!(dice.len() > 1 && dice.iter().all(|number| (1..=6).contains(number)), "{dice:?}");
}

/// RFC 9112 §9.6: who will not use the connection again says so.
#[test]
fn a_request_without_keep_alive_says_that_it_is_the_last() {
    let server = answering(reply(200, "ok"));
    let url = server.url("/");
    assert_all_ok(&run(&LoadSpec { keep_alive: false, ..load(&url, 1) }), 1);
    assert_all_ok(&run(&load(&url, 1)), 1);
    let says_so: Vec<bool> = heads(&server.stop())
        .iter()
        .map(|head| head.to_ascii_lowercase().contains("\r\nconnection: close\r\n"))
        .collect();
    assert_eq!(says_so, [true, false]);
}

/// Bytes of a file may look like a field and be none.
#[test]
fn bytes_are_sent_as_they_are() {
    let server = answering(reply(200, "ok"));
    let body = b"\x00\xff{{seq}}\r\n\r\n".to_vec();
    let spec = LoadSpec { body: BodySpec::Bytes(body.clone()), ..load(&server.url("/"), 2) };
    assert_all_ok(&run(&spec), 2);
    assert_eq!(bodies(&server.stop()), [body.clone(), body]);
}

#[test]
fn lines_take_turns_as_bodies() {
    let server = answering(reply(200, "ok"));
    let lines = ["a", "{{seq:10}}", "ccc"].map(str::to_owned).to_vec();
    let spec = LoadSpec { body: BodySpec::Lines(lines), ..load(&server.url("/"), 6) };
    assert_all_ok(&run(&spec), 6);
    assert_eq!(bodies(&server.stop()), [&b"a"[..], b"11", b"ccc", b"a", b"14", b"ccc"]);
}
