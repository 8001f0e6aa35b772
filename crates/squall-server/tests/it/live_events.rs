//! `live=events` and `/stream`: plain messages for an EventSource, and resuming by id.

use squall_testkit::http::Request;

use crate::follower::{Follower, message, named};
use crate::support::{TestServer, assert_problem, at, path};

fn live(query: &str) -> String {
    format!("{}?live=events{query}", path("s"))
}

/// A server with a text stream of three events: `a` up to 1, `bb` up to 3, `ccc` up to 6.
fn stage() -> TestServer {
    let server = TestServer::start();
    server.create("s", "text/plain");
    for event in ["a", "bb", "ccc"] {
        server.append("s", "text/plain", event);
    }
    server
}

#[test]
fn a_follow_starts_at_the_beginning_and_goes_on() {
    let server = stage();
    let mut follower = Follower::open(&server, &live(""));
    assert_eq!(follower.message(), message(&at(1), "a"));
    assert_eq!(follower.message(), message(&at(3), "bb"));
    assert_eq!(follower.message(), message(&at(6), "ccc"));
    server.append("s", "text/plain", "dddd");
    assert_eq!(follower.message(), message(&at(10), "dddd"));
}

/// What proxies need to be told, and what a browser needs to see.
#[test]
fn the_head_keeps_proxies_from_holding_messages_back() {
    let follower = Follower::open(&stage(), &live(""));
    let head = &follower.head;
    assert_eq!(head.header("Cache-Control"), Some("no-cache, no-transform"));
    assert_eq!(head.header("X-Accel-Buffering"), Some("no"));
    assert_eq!(head.header("Content-Length"), None);
    assert_eq!(head.header("Stream-SSE-Data-Encoding"), None);
}

#[test]
fn an_offset_says_where_to_start_even_inside_an_event() {
    let server = stage();
    let mut follower = Follower::open(&server, &live(&format!("&offset={}", at(4))));
    assert_eq!(follower.message(), message(&at(6), "cc"));
}

/// Without it a browser that loses the connection before the first event would connect
/// again with no id, and miss what came in between.
#[test]
fn now_and_last_first_say_where_they_are() {
    let server = stage();
    for target in [live("&offset=now"), live("&offset=last")] {
        let mut follower = Follower::open(&server, &target);
        let start = if target.ends_with("now") { at(6) } else { at(3) };
        assert_eq!(follower.chunk().unwrap(), format!("id: {start}\n\n"));
        assert_eq!(follower.cursor(), start);
        if start == at(3) {
            assert_eq!(follower.message(), message(&at(6), "ccc"));
        }
    }
    let mut follower = Follower::open(&server, &live("&offset=now"));
    follower.chunk().unwrap();
    let id = follower.cursor().to_owned();
    drop(follower);
    server.append("s", "text/plain", "missed");
    let mut again = Follower::resume(&server, &live("&offset=now"), &id);
    assert_eq!(again.message(), message(&at(12), "missed"));
}

#[test]
fn stream_says_where_it_is_as_well() {
    let server = TestServer::start();
    server.call(&Request::new("POST", "/").body("a"));
    let mut now = Follower::open(&server, "/stream?offset=now");
    assert_eq!(now.chunk().unwrap(), format!("id: {}\n\n", at(1)));
    let mut resumed = Follower::resume(&server, "/stream?offset=now", &at(0));
    assert_eq!(resumed.message(), message(&at(1), "a"));
}

/// A connection that breaks anywhere is taken up where it broke.
#[test]
fn a_follow_resumes_from_any_id() {
    let server = stage();
    let events = [(1, "a"), (3, "bb"), (6, "ccc")];
    for (seen, (id, _)) in events.iter().enumerate() {
        let mut follower = Follower::resume(&server, &live(""), &at(*id));
        for (end, data) in &events[seen + 1..] {
            assert_eq!(follower.message(), message(&at(*end), data));
        }
        let tail = server.append("s", "text/plain", "x");
        if seen == 0 {
            assert_eq!(follower.message(), message(&tail, "x"));
        }
    }
}

/// The header of a browser that connects again, then the query of one that connects for
/// the first time, which cannot send a header, and the offset of its address last of all.
#[test]
fn the_newest_word_on_the_position_wins() {
    let server = stage();
    let first = |query: &str, header: Option<&str>| {
        let request = Request::new("GET", &live(query));
        let request = match header {
            Some(id) => request.header("Last-Event-ID", id),
            None => request,
        };
        Follower::ask(&server, &request).message().data
    };
    let offset = format!("&offset={}", at(3));
    assert_eq!(first(&offset, None), "ccc");
    for name in ["last_event_id", "lastEventID"] {
        let query = format!("{offset}&{name}={}", at(1));
        assert_eq!(first(&query, None), "bb");
        assert_eq!(first(&query, Some(&at(0))), "a");
        // An empty id is none.
        assert_eq!(first(&query, Some("")), "bb");
        assert_eq!(first(&format!("{offset}&{name}="), None), "ccc");
    }
}

#[test]
fn a_bad_offset_parameter_is_an_error_all_the_same() {
    let server = stage();
    assert_problem(&server.read(&live("&offset=nonsense")), 400, "bad_offset");
    assert_problem(&server.read("/stream?offset=nonsense"), 400, "bad_offset");
    server.create("j", "application/json");
    server.append("j", "application/json", "[10]");
    let inside = format!("/v1/stream/j?live=events&offset={}", at(1));
    assert_problem(&server.read(&inside), 400, "offset_inside_event");
}

#[test]
fn elements_of_json_are_messages_as_they_were_sent() {
    let server = TestServer::start();
    server.create("s", "application/json");
    server.append("s", "application/json", "[1.50, {\"a\":\r\n  [2]}]");
    let mut follower = Follower::open(&server, &live(""));
    assert_eq!(follower.message(), message(&at(4), "1.50"));
    // Line ends are white space there, so that a browser's LF does no harm.
    assert_eq!(follower.message(), message(&at(17), "{\"a\":\n  [2]}"));
}

#[test]
fn bytes_are_messages_of_base64() {
    let server = TestServer::start();
    server.create("s", "application/octet-stream");
    server.append("s", "application/octet-stream", [0, 159, 146, 150]);
    let mut follower = Follower::open(&server, &live(""));
    assert_eq!(follower.head.header("Stream-SSE-Data-Encoding"), Some("base64"));
    assert_eq!(follower.message(), message(&at(4), "AJ+Slg=="));
    server.append("s", "application/octet-stream", "\n");
    assert_eq!(follower.message(), message(&at(5), "Cg=="));
}

#[test]
fn a_closed_stream_ends_with_a_message_that_says_so() {
    let server = stage();
    let mut early = Follower::open(&server, &live(""));
    let mut at_tail = Follower::open(&server, &live("&offset=now"));
    server.wait_for_followers(2);
    server.close("s");
    let end = named("closed", &at(6), &format!("{{\"offset\":\"{}\"}}", at(6)));
    assert_eq!(early.rest().last(), Some(&end));
    assert_eq!(at_tail.rest(), std::slice::from_ref(&end));
    let mut late = Follower::open(&server, &live(""));
    assert_eq!(late.rest().len(), 4);
    assert_eq!(late.cursor(), at(6));
    // Also where nothing was ever sent before it.
    server.create("t", "text/plain");
    server.close("t");
    let end = named("closed", &at(0), &format!("{{\"offset\":\"{}\"}}", at(0)));
    assert_eq!(Follower::open(&server, "/v1/stream/t?live=events").rest(), [end]);
}

/// An EventSource connects again whenever an answer ends; 204 is the word that stops it.
#[test]
fn who_has_seen_the_end_is_told_to_stop() {
    let server = stage();
    server.close("s");
    let seen = Request::new("GET", &live("")).header("Last-Event-ID", &at(6));
    let stop = server.call(&seen);
    assert_eq!((stop.status, stop.header("Cache-Control")), (204, Some("no-store")));
    assert_eq!(server.read(&live(&format!("&last_event_id={}", at(6)))).status, 204);
    // Without an id the end was not seen, wherever the follow begins.
    assert_eq!(Follower::open(&server, &live("&offset=now")).message().event, "closed");
    assert_eq!(Follower::resume(&server, &live(""), &at(3)).rest().len(), 2);
}

#[test]
fn a_deleted_stream_ends_its_follows_and_a_new_one_does_not_go_on_in_them() {
    let server = stage();
    let mut follower = Follower::open(&server, &live(""));
    assert_eq!((0..3).map(|_| follower.message().data).collect::<String>(), "abbccc");
    let mut sse = Follower::open(&server, &format!("{}?live=sse&offset=now", path("s")));
    assert_eq!(sse.message().event, "control");
    server.delete("s");
    server.create("s", "text/plain");
    server.append("s", "text/plain", "of another stream");
    follower.assert_ended();
    sse.assert_ended();
}

#[test]
fn one_follower_too_many_is_sent_away_in_a_way_that_it_comes_back() {
    let server = TestServer::with(|config| config.followers_max = 1);
    server.create("s", "text/plain");
    let _first = Follower::open(&server, &live(""));
    let second = server.read(&live(""));
    assert_eq!((second.status, second.header("Content-Type")), (200, Some("text/event-stream")));
    let retry = second.text();
    let wait = retry.strip_prefix("retry: ").and_then(|rest| rest.strip_suffix("\n\n")).unwrap();
    assert!((1_000..=10_000).contains(&wait.parse::<u64>().unwrap()), "{retry}");
}
