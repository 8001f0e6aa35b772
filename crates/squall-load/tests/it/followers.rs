//! Followers of event streams: what they hear, when, and how they come back.

use squall_load::spec::{FollowSpec, Length, LoadSpec};
use squall_stats::record::FollowersRecord;
use squall_testkit::scripted::{After, Script, ScriptedServer, Step, reply, sse_head_plain};

use crate::support::{MS, heads, load, ms, run};

/// `count` followers of `url` and no requests, for `length` milliseconds.
fn following(url: &str, count: usize, length: u64) -> LoadSpec {
    let follow =
        FollowSpec { url: url.to_owned(), followers: count, slow_followers: 0, match_text: None };
    let length = Length::Time(ms(length));
    LoadSpec { follow: Some(follow), connections: 0, length, ..load(url, 1) }
}

fn seen(spec: &LoadSpec) -> FollowersRecord {
    run(spec).followers.unwrap()
}

fn head_and(text: &[u8]) -> Vec<u8> {
    [&sse_head_plain()[..], text].concat()
}

/// A server that sends `text` to every follower, cut into portions, and holds the connection.
fn sending(text: &[u8], portion: usize) -> ScriptedServer {
    let bytes = head_and(text);
    let pause = std::time::Duration::ZERO;
    let steps = [Step::Request, Step::SendSplit { bytes, portion, pause }];
    ScriptedServer::start(Script::new().each_connection(steps).then(After::Stall))
}

/// The rules of the WHATWG format, wherever the bytes are cut.
#[test]
fn events_and_comments_are_told_apart_whatever_the_lines_end_with() {
    let text = "\u{feff}: welcome\n\ndata: a\r\ndata: b\r\n\r\ndata\n\nunknown: x\rdata:c\r\r\
                event: named\ndata: d \u{1F4A7}\n\nid: 4\n\nretry: 10000\n\ndata: never ended";
    for portion in [1, 2, 3, 7, 1_000] {
        let found = seen(&following(&sending(text.as_bytes(), portion).url("/"), 1, 400));
        // An event without data is a sign of life, not an event; one without an end does not count.
        assert_eq!((found.events, found.comments, found.established), (3, 1, 1), "{portion}");
    }
}

/// A chunk with nothing in it is no first token (vllm#3759).
#[test]
fn the_first_byte_the_first_event_and_the_first_match_are_three_things() {
    let steps = [
        Step::Request,
        Step::Send(head_and(b": hello\n\ndata:\n\n")),
        Step::Wait(ms(60)),
        Step::Send(b"data: {\"role\":\"assistant\"}\n\n".to_vec()),
        Step::Wait(ms(120)),
        Step::Send(b"data: {\"token\":\"one\"}\n\n".to_vec()),
    ];
    let server = ScriptedServer::start(Script::new().each_connection(steps).then(After::Stall));
    let mut spec = following(&server.url("/"), 1, 1_000);
    spec.follow.as_mut().unwrap().match_text = Some("token".to_owned());
    let found = seen(&spec);
    let first = |times: &squall_stats::record::LatencySummary| times.max.unwrap();
    let (byte, event, matching) =
        (first(&found.first_byte), first(&found.first_event), first(&found.first_match));
    assert!(byte < event && event < matching, "{byte} {event} {matching}");
    assert!(event >= 60 * MS && matching >= 180 * MS, "{event} {matching}");
    assert_eq!((found.events, found.comments), (2, 1));
}

fn stamped(sequence: u64) -> Vec<u8> {
    format!("id: {sequence}\ndata: squall-stamp server-1 {sequence} 5000 ...\n\n").into_bytes()
}

/// Nothing is missed or told twice where a follower comes back with the newest id.
#[test]
fn lost_repeated_and_reordered_events_are_counted_across_a_reconnect() {
    let first: Vec<u8> =
        [1, 2, 3, 4, 5, 6, 8, 9, 9, 10, 12, 11, 13].into_iter().flat_map(stamped).collect();
    let second: Vec<u8> = [14, 15].into_iter().flat_map(stamped).collect();
    let script = Script::new()
        .connection(
            [Step::Request, Step::Send(head_and(&[b"retry: 20\n\n", &first[..]].concat()))],
            After::Close,
        )
        .connection([Step::Request, Step::Send(head_and(&second))], After::Stall);
    let server = ScriptedServer::start(script);
    let found = seen(&following(&server.url("/"), 1, 800));
    let delivery = found.delivery.unwrap();
    assert_eq!((delivery.lost, delivery.repeated, delivery.reordered), (1, 1, 1), "{delivery:?}");
    assert_eq!((delivery.delivered, delivery.foreign, delivery.time.count), (14, 15, 0));
    assert_eq!((found.reconnects, found.events, found.established), (1, 15, 1));
    let asked = heads(&server.record());
    assert!(!asked[0].contains("Last-Event-ID"), "{}", asked[0]);
    assert!(asked[1].contains("\r\nLast-Event-ID: 13\r\n"), "{}", asked[1]);
    assert!(asked[0].contains("\r\nAccept: text/event-stream\r\n"), "{}", asked[0]);
}

#[test]
fn an_event_that_is_cut_is_told_and_does_not_count() {
    let text = b"retry: 10000\n\ndata: whole\n\ndata: cut".to_vec();
    let steps = [Step::Request, Step::Send(head_and(&text))];
    let server = ScriptedServer::start(Script::new().each_connection(steps).then(After::Close));
    let found = seen(&following(&server.url("/"), 2, 400));
    assert_eq!((found.events, found.cut_events), (2, 2));
}

#[test]
fn an_answer_of_204_ends_a_follower_for_good() {
    let steps = [Step::Request, Step::Send(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec())];
    let server = ScriptedServer::start(Script::new().each_connection(steps).then(After::Repeat));
    let found = seen(&following(&server.url("/"), 3, 200));
    assert_eq!((found.stopped, found.established), (3, 0));
    assert_eq!(server.record().requests(), 3);
}

/// As an `EventSource`: a refusal is for good.
#[test]
fn what_is_no_event_stream_is_told_in_words_and_not_asked_again() {
    let check = |answer: Vec<u8>, expected: &str| {
        let steps = [Step::Request, Step::Send(answer)];
        let server =
            ScriptedServer::start(Script::new().each_connection(steps).then(After::Repeat));
        let found = seen(&following(&server.url("/"), 1, 150));
        assert_eq!(found.failed.get(expected), Some(&1), "{expected}: {:?}", found.failed);
        assert_eq!(server.record().requests(), 1, "{expected}");
    };
    check(reply(404, b"no"), "status 404");
    check(reply(302, b""), "status 302");
    check(reply(200, b"data: a\n\n"), "no event stream");
}

#[test]
fn a_server_in_trouble_is_asked_again() {
    let script = Script::new()
        .connection([Step::Request, Step::Send(reply(503, b"later"))], After::Close)
        .connection([Step::Request, Step::Send(head_and(b"data: a\n\n"))], After::Stall);
    let server = ScriptedServer::start(script);
    let found = seen(&following(&server.url("/"), 1, 2_500));
    assert_eq!((found.failed.get("status 503"), found.events), (Some(&1), 1), "{found:?}");
    assert_eq!(found.failed.len(), 1, "{:?}", found.failed);
}

/// Followers are there before the first request, or they would miss what it brings.
#[test]
fn requests_wait_for_the_followers() {
    let steps = [Step::Request, Step::Wait(ms(150)), Step::Send(head_and(b""))];
    let stream = ScriptedServer::start(Script::new().each_connection(steps).then(After::Stall));
    let server = crate::support::answering(reply(200, b"hello"));
    let spec = following(&stream.url("/"), 5, 100);
    let spec = LoadSpec {
        requests: vec![crate::support::request(&server.url("/"))],
        connections: 1,
        ..spec
    };
    let record = run(&spec);
    assert_eq!(record.followers.unwrap().established, 5);
    let first = server.record().connections[0].requests[0].read_at;
    let last = stream.record().connections.iter().map(|c| c.requests[0].replied_at.unwrap()).max();
    assert!(Some(first) > last);
}

#[test]
fn a_slow_follower_reads_a_little_at_a_time() {
    let text: Vec<u8> = b"data: 0123456789\n\n".repeat(20_000);
    let server = sending(&text, 1 << 20);
    let mut spec = following(&server.url("/"), 0, 2_300);
    spec.follow.as_mut().unwrap().slow_followers = 1;
    let found = seen(&spec);
    assert_eq!(found.established, 1);
    assert!((4_096..=4 * 4_096).contains(&found.bytes), "{}", found.bytes);
}

#[test]
fn a_thread_holds_many_followers() {
    let server = sending(b"data: a\n\n", 1 << 20);
    let found = seen(&following(&server.url("/"), 300, 1_000));
    assert_eq!((found.asked, found.established, found.events), (300, 300, 300));
}

/// A server may say nothing at all before the first event.
#[test]
fn followers_that_are_not_answered_do_not_hold_up_the_run() {
    let stall = Script::new().each_connection([Step::Request, Step::Stall]).then(After::Stall);
    let stream = ScriptedServer::start(stall);
    let found = seen(&following(&stream.url("/"), 200, 100));
    assert_eq!((found.asked, found.established), (200, 0));
    assert_eq!(stream.record().requests(), 200);
}
