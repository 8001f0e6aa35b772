//! What followers hear, and when.

use squall_load::spec::LoadSpec;
use squall_stats::record::LatencySummary;
use squall_testkit::scripted::{After, Script, ScriptedServer, Step, chunk, reply, sse_head};

use crate::follow_support::{
    answer, each, following, following_slowly, head_and, portions, seen, sending, stamped,
};
use crate::support::{MS, answering, heads, ms, request, run};

/// The rules of the WHATWG format, wherever the bytes are cut.
#[test]
fn events_and_comments_are_told_apart_whatever_the_lines_end_with() {
    let text = "\u{feff}: welcome\n\ndata: a\r\ndata: b\r\n\r\ndata\n\nunknown: x\rdata:c\r\r\
                event: named\ndata: d \u{1F4A7}\n\nid: 4\n\nretry: 10000\n\ndata: never ended";
    each([1, 2, 3, 7, 1_000], |portion| {
        let server = ScriptedServer::start(portions(text.as_bytes(), portion));
        let found = seen(&following(&server.url("/"), 1, 1_500));
        // An event without data is a sign of life, not an event; one without an end does not count.
        assert_eq!((found.events, found.comments, found.established), (3, 1, 1), "{portion}");
    });
}

/// Chunks are no events: one may hold several, and an event may take several.
#[test]
fn chunks_need_not_be_events() {
    let text = b": a\n\ndata: one\n\ndata: two\ndata: lines\n\ndata: \xf0\x9f\x92\xa7\n\n";
    each([1, 2, 5, 1_000], |portion| {
        let chunks: Vec<u8> = text.chunks(portion).flat_map(chunk).collect();
        let script =
            Script::new().each_connection(answer([sse_head(), chunks].concat())).then(After::Stall);
        let server = ScriptedServer::start(script);
        let mut spec = following(&server.url("/"), 1, 1_500);
        spec.follow.as_mut().unwrap().match_text = Some("\u{1F4A7}".to_owned());
        let found = seen(&spec);
        assert_eq!((found.events, found.comments, found.cut_events), (3, 1, 0), "{portion}");
        assert_eq!(found.first_match.count, 1, "{portion}");
    });
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
    let mut spec = following(&server.url("/"), 1, 800);
    spec.follow.as_mut().unwrap().match_text = Some("token".to_owned());
    let found = seen(&spec);
    let first = |times: &LatencySummary| times.max.unwrap();
    let (byte, event, matching) =
        (first(&found.first_byte), first(&found.first_event), first(&found.first_match));
    assert!(byte < event && event < matching, "{byte} {event} {matching}");
    assert!(event >= 60 * MS && matching >= 180 * MS, "{event} {matching}");
    assert_eq!((found.events, found.comments), (2, 1));
}

/// Nothing is missed or told twice where a follower comes back with the newest id.
#[test]
fn lost_repeated_and_reordered_events_are_counted_across_a_reconnect() {
    let first: Vec<u8> =
        [1, 2, 3, 4, 5, 6, 8, 9, 9, 10, 12, 11, 13].into_iter().flat_map(stamped).collect();
    let second: Vec<u8> = [14, 15].into_iter().flat_map(stamped).collect();
    let script = Script::new()
        .connection(answer(head_and([b"retry: 20\n\n", &first[..]].concat())), After::Close)
        .connection(answer(head_and(&second)), After::Stall);
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

/// Followers are there before the first request, or they would miss what it brings.
#[test]
fn requests_wait_for_the_followers() {
    let steps = [Step::Request, Step::Wait(ms(150)), Step::Send(head_and(b""))];
    let stream = ScriptedServer::start(Script::new().each_connection(steps).then(After::Stall));
    let server = answering(reply(200, b"hello"));
    let record = run(&beside(following(&stream.url("/"), 5, 100), &server));
    assert_eq!(record.followers.unwrap().established, 5);
    let first = server.record().connections[0].requests[0].read_at;
    let last = stream.record().connections.iter().map(|c| c.requests[0].replied_at.unwrap()).max();
    assert!(Some(first) > last);
}

/// A server may say nothing at all before the first event, so a second is enough.
#[test]
fn requests_do_not_wait_for_ever_for_followers_that_nobody_answers() {
    let stream = ScriptedServer::start(Script::new().each_connection([Step::Request, Step::Stall]));
    let server = answering(reply(200, b"hello"));
    let record = run(&beside(following(&stream.url("/"), 200, 100), &server));
    let followers = record.followers.unwrap();
    assert_eq!((followers.asked, followers.established), (200, 0));
    assert!(record.ledger.ok > 0);
    assert_eq!(stream.record().requests(), 200);
    let first = server.record().connections[0].requests[0].read_at;
    let asked_first = stream.record().connections.iter().map(|c| c.requests[0].read_at).min();
    // Each was given the second, and they were not waited for one after the other.
    let waited = first.saturating_sub(asked_first.unwrap());
    assert!((900 * MS..20_000 * MS).contains(&waited), "{waited}");
}

/// `spec` with one connection that asks `server`.
fn beside(spec: LoadSpec, server: &ScriptedServer) -> LoadSpec {
    LoadSpec { requests: vec![request(&server.url("/"))], connections: 1, ..spec }
}

#[test]
fn a_slow_follower_reads_a_little_at_a_time() {
    let server = sending(&b"data: 0123456789\n\n".repeat(20_000));
    let found = seen(&following_slowly(&server.url("/"), 2_300));
    assert_eq!(found.established, 1);
    assert!((4_096..=4 * 4_096).contains(&found.bytes), "{}", found.bytes);
}

/// It is slow in reading, not in being there.
#[test]
fn requests_do_not_wait_for_the_next_read_of_a_slow_follower() {
    let steps = [Step::Request, Step::Wait(ms(20)), Step::Send(head_and(b"data: a\n\n"))];
    let stream = ScriptedServer::start(Script::new().each_connection(steps).then(After::Stall));
    let server = answering(reply(200, b"hello"));
    let record = run(&beside(following_slowly(&stream.url("/"), 100), &server));
    assert_eq!(record.followers.unwrap().established, 1);
    let first = server.record().connections[0].requests[0].read_at;
    let answered = stream.record().connections[0].requests[0].replied_at.unwrap();
    assert!((answered..answered + 800 * MS).contains(&first), "{}", first - answered);
}

#[test]
fn a_thread_holds_a_thousand_followers() {
    let server = sending(b"data: a\n\n");
    let found = seen(&following(&server.url("/"), 1_000, 1_500));
    assert_eq!((found.asked, found.established, found.events), (1_000, 1_000, 1_000));
    assert_eq!(found.first_event.count, 1_000);
    assert!(found.failed.is_empty(), "{:?}", found.failed);
}
