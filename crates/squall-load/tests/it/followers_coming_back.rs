//! How a connection of a follower ends, and what the follower does then.

use std::time::Duration;

use squall_load::spec::LoadSpec;
use squall_stats::record::FollowersRecord;
use squall_testkit::scripted::{
    After, Record, Script, ScriptedServer, Step, chunk, closed_port, reply, sse_event, sse_head,
};
use squall_testkit::wait::wait_until;

use crate::follow_support::{answer, each, following, head_and, seen};
use crate::support::{MS, heads, ms, run};

const NO_CONTENT: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

/// What one follower saw of `script`, and what the server did.
fn follow(script: Script, length: u64) -> (FollowersRecord, Record) {
    let server = ScriptedServer::start(script);
    let found = seen(&following(&server.url("/"), 1, length));
    (found, server.stop())
}

/// A script that answers first with `bytes` and then does `after`, and with an event to all who
/// come later.
fn first(bytes: impl Into<Vec<u8>>, after: After) -> Script {
    Script::new().connection(answer(bytes), after).connection(answer(head_and(NEXT)), After::Stall)
}

const NEXT: &str = "data: next\n\n";

/// The end of the body is the end of the stream, whether the connection ends with it or not.
#[test]
fn a_stream_ends_with_its_connection_its_last_chunk_or_its_length() {
    let text = "retry: 20\n\nid: 7\ndata: a\n\n";
    let last_chunk = [sse_head(), chunk(text), chunk("")].concat();
    let length = text.len();
    let length = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\n\r\n{text}"
    );
    let ends =
        [(head_and(text), After::Close), (last_chunk, After::Stall), (length.into(), After::Stall)];
    each(ends, |(bytes, after)| {
        let (found, record) = follow(first(bytes, after), 500);
        assert_eq!((found.events, found.reconnects, found.cut_events), (2, 1, 0), "{found:?}");
        assert!(found.failed.is_empty(), "{:?}", found.failed);
        assert!(heads(&record)[1].contains("\r\nLast-Event-ID: 7\r\n"));
    });
}

#[test]
fn an_event_that_is_cut_is_told_and_does_not_count() {
    let text = "retry: 10000\n\ndata: whole\n\ndata: cut";
    let half_a_chunk = [sse_head(), sse_event(1, "whole"), b"ff\r\ndata: cut".to_vec()].concat();
    each([head_and(text), half_a_chunk], |bytes| {
        let server = ScriptedServer::start(Script::new().each_connection(answer(bytes)));
        let found = seen(&following(&server.url("/"), 2, 400));
        assert_eq!((found.events, found.cut_events, found.established), (2, 2, 2), "{found:?}");
    });
}

/// Time from the first answer of a server to the next connection.
fn pause(record: &Record) -> u64 {
    let answered = record.connections[0].requests[0].replied_at.unwrap();
    record.connections[1].accepted_at - answered
}

#[test]
fn a_follower_waits_as_long_as_the_server_wishes() {
    let (found, record) = follow(first(head_and("retry: 150\n\n"), After::Close), 800);
    assert_eq!((found.reconnects, found.events), (1, 1), "{found:?}");
    assert!(pause(&record) >= 150 * MS, "{}", pause(&record));
    let (found, record) = follow(first(head_and("retry: 60000\n\n"), After::Close), 400);
    assert_eq!((found.reconnects, record.accepted()), (0, 1), "{found:?}");
}

/// A wish for no wait at all is not taken at its word: this would be an attack.
#[test]
fn a_server_that_always_closes_is_not_stormed() {
    let script = Script::new().each_connection(answer(head_and("retry: 0\n\n")));
    let server = ScriptedServer::start(script);
    // Short time-outs make the engine look often, so that its own rest is what limits it.
    let (timeout, connect_timeout) = (ms(250), ms(250));
    let spec = following(&server.url("/"), 1, 300);
    let found = seen(&LoadSpec { timeout, connect_timeout, ..spec });
    let record = server.stop();
    assert!((2..=40).contains(&record.accepted()), "{}", record.accepted());
    assert!(found.reconnects <= record.requests(), "{found:?}");
    assert_eq!((found.established, found.first_byte.count), (1, 1));
}

#[test]
fn an_answer_of_204_ends_a_follower_for_good() {
    let script = Script::new().each_connection(answer(NO_CONTENT)).then(After::Repeat);
    let server = ScriptedServer::start(script);
    let found = seen(&following(&server.url("/"), 3, 200));
    assert_eq!((found.stopped, found.established), (3, 0));
    assert_eq!(server.record().requests(), 3);
}

/// That is how a server ends a stream that is over.
#[test]
fn an_answer_of_204_ends_a_follower_that_has_come_back() {
    let script = Script::new()
        .connection(answer(head_and("retry: 20\n\ndata: last\n\n")), After::Close)
        .connection(answer(NO_CONTENT), After::Close);
    let (found, record) = follow(script, 400);
    assert_eq!((found.stopped, found.established, found.reconnects), (1, 1, 0), "{found:?}");
    assert_eq!((found.events, record.requests()), (1, 2));
}

/// As an `EventSource`: a refusal is for good.
#[test]
fn what_is_no_event_stream_is_told_in_words_and_not_asked_again() {
    let cases = [
        (reply(404, b"no"), "status 404"),
        (reply(302, b""), "status 302"),
        (reply(200, b"data: a\n\n"), "no event stream"),
        (reply_of_type("text/html", "data: a\n\n"), "no event stream"),
        (reply_of_type("text/event-streams", "data: a\n\n"), "no event stream"),
    ];
    each(cases, |(answered, expected)| {
        let script = Script::new().each_connection(answer(answered)).then(After::Repeat);
        let (found, record) = follow(script, 200);
        assert_eq!(found.failed, [(expected.to_owned(), 1)].into());
        assert_eq!((record.requests(), found.established), (1, 0), "{expected}");
    });
}

fn reply_of_type(kind: &str, text: &str) -> Vec<u8> {
    let length = text.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{text}")
        .into_bytes()
}

#[test]
fn a_content_type_may_have_parameters_and_any_case() {
    each(["text/event-stream; charset=utf-8", "Text/Event-Stream;charset=UTF-8"], |kind| {
        let script = Script::new()
            .each_connection(answer(reply_of_type(kind, "retry: 60000\n\ndata: a\n\n")));
        let (found, _) = follow(script, 150);
        assert_eq!((found.events, found.established), (1, 1), "{kind}");
    });
}

/// The usual wait is a second.
#[test]
fn a_server_in_trouble_is_asked_again() {
    let (found, record) = follow(first(reply(503, b"later"), After::Close), 1_800);
    assert_eq!(found.failed, [("status 503".to_owned(), 1)].into());
    assert_eq!((found.events, found.reconnects, found.established), (1, 0, 1), "{found:?}");
    assert!(pause(&record) >= 1_000 * MS, "{}", pause(&record));
}

#[test]
fn what_is_no_http_is_told() {
    let (found, _) = follow(first("data: not a head\n\n", After::Stall), 200);
    assert_eq!(found.failed, [("framing".to_owned(), 1)].into());
}

#[test]
fn an_answer_that_never_begins_is_told() {
    let script = Script::new().each_connection([Step::Request]);
    let (found, _) = follow(script, 200);
    assert_eq!(found.failed, [("closed".to_owned(), 1)].into());
}

/// A stream that nobody offers costs the followers, and not the load.
#[test]
fn a_stream_whose_port_is_closed_is_told_by_its_errno() {
    let port = closed_port();
    let found = seen(&following(&port.url("/"), 3, 150));
    assert_eq!(found.failed, [("ECONNREFUSED".to_owned(), 3)].into());
    assert_eq!((found.asked, found.established), (3, 0));
}

/// A server that is started again where it was is found again.
#[test]
fn followers_outlive_their_server() {
    let script = || Script::new().each_connection(answer(head_and("retry: 50\n\ndata: a\n\n")));
    let server = ScriptedServer::start(script().then(After::Stall));
    let (address, url) = (server.address(), server.url("/"));
    let found = std::thread::scope(|scope| {
        let ended = scope.spawn(move || {
            assert!(wait_until(Duration::from_secs(10), || server.record().replies() == 4));
            drop(server);
            ScriptedServer::start_at(address, script().then(After::Stall))
        });
        let found = seen(&following(&url, 4, 1_500));
        drop(ended.join().unwrap());
        found
    });
    assert_eq!((found.established, found.reconnects, found.events), (4, 4, 8), "{found:?}");
}

/// Followers of a load go where its requests go.
#[test]
fn followers_are_led_to_a_unix_socket_and_to_an_address_too() {
    let script =
        || Script::new().each_connection(answer(head_and("data: a\n\n"))).then(After::Stall);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server.sock");
    let _on_unix = ScriptedServer::start_unix(&path, script());
    let on_tcp = ScriptedServer::start(script());
    let mut spec = following("http://far.invalid/stream", 3, 200);
    spec.network.unix_socket = Some(path);
    assert_eq!(seen(&spec).events, 3);
    spec.network.unix_socket = None;
    spec.network.connect_to = Some(on_tcp.address());
    assert_eq!(seen(&spec).events, 3);
    assert!(heads(&on_tcp.record())[0].contains("\r\nHost: far.invalid\r\n"));
}

/// Who is asking is the same, what is sent is not.
#[test]
fn followers_send_the_headers_of_the_load() {
    let script = Script::new().each_connection(answer(head_and("data: a\n\n"))).then(After::Stall);
    let server = ScriptedServer::start(script);
    let mut spec = following(&server.url("/stream?from=0"), 1, 150);
    spec.headers = vec![
        ("Authorization".to_owned(), "Bearer abc".to_owned()),
        ("Content-Type".to_owned(), "text/plain".to_owned()),
    ];
    run(&spec);
    let asked = heads(&server.record()).remove(0);
    assert!(asked.starts_with("GET /stream?from=0 HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains("\r\nAuthorization: Bearer abc\r\n"), "{asked}");
    assert!(!asked.contains("Content-"), "{asked}");
}
