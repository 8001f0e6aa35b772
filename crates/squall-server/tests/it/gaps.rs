//! Positions that are gone: a plain follow is told and goes on, the protocol's modes refuse.

use crate::follower::{Follower, Message, message, named};
use crate::support::{TestServer, assert_problem, at, path};

fn live(query: &str) -> String {
    format!("{}?live=events{query}", path("s"))
}

fn gap(requested: &str, earliest: u64) -> Message {
    let earliest = at(earliest);
    let data = format!(r#"{{"requested":{requested:?},"earliest":"{earliest}"}}"#);
    named("gap", &earliest, &data)
}

/// A text stream whose first event, up to 2, is gone; `cc` up to 4 is left.
fn trimmed() -> TestServer {
    let server = TestServer::start();
    server.create("s", "text/plain");
    server.append("s", "text/plain", "aa");
    server.append("s", "text/plain", "cc");
    server.trim("s", 2);
    server
}

/// Once silent for ever: a client that comes with an id that is no longer there.
/// `mercure#704`
#[test]
fn a_position_that_was_trimmed_is_a_gap_and_then_what_is_left() {
    let server = trimmed();
    let asked = [live(&format!("&offset={}", at(1))), live(&format!("&last_event_id={}", at(1)))];
    for target in asked {
        let mut follower = Follower::open(&server, &target);
        assert_eq!(follower.message(), gap(&at(1), 2));
        assert_eq!(follower.message(), message(&at(4), "cc"));
    }
    let mut header = Follower::resume(&server, &live("&offset=now"), &at(0));
    assert_eq!(header.message(), gap(&at(0), 2));
    assert_eq!(header.message(), message(&at(4), "cc"));
    server.append("s", "text/plain", "x");
    assert_eq!(header.message(), message(&at(5), "x"));
}

#[test]
fn a_position_beyond_the_tail_is_a_gap() {
    let server = trimmed();
    for target in [live(&format!("&offset={}", at(99))), live(&format!("&lastEventID={}", at(99)))]
    {
        let mut follower = Follower::open(&server, &target);
        assert_eq!(follower.message(), gap(&at(99), 2));
        assert_eq!(follower.message(), message(&at(4), "cc"));
    }
}

#[test]
fn an_id_that_is_no_offset_is_a_gap() {
    let server = trimmed();
    for id in ["nonsense", "42", "now", "-1", "a \"quoted\" id"] {
        let mut follower = Follower::resume(&server, &live(""), id);
        assert_eq!(follower.message(), gap(id, 2));
        assert_eq!(follower.message(), message(&at(4), "cc"));
    }
}

#[test]
fn an_id_inside_a_json_event_is_a_gap() {
    let server = TestServer::start();
    server.create("s", "application/json");
    server.append("s", "application/json", "[100,200]");
    let mut follower = Follower::resume(&server, &live(""), &at(4));
    assert_eq!(follower.message(), gap(&at(4), 0));
    assert_eq!(follower.message(), message(&at(3), "100"));
}

/// The client's cursor is moved, so that it is not told of the same gap again.
#[test]
fn a_gap_moves_the_cursor_to_what_is_left() {
    let server = trimmed();
    server.trim("s", 4);
    let mut follower = Follower::resume(&server, &live(""), &at(0));
    assert_eq!(follower.message(), gap(&at(0), 4));
    assert_eq!(follower.cursor(), at(4));
    server.append("s", "text/plain", "dd");
    assert_eq!(follower.message(), message(&at(6), "dd"));
    let mut again = Follower::resume(&server, &live(""), &at(4));
    assert_eq!(again.message(), message(&at(6), "dd"));
}

#[test]
fn a_closed_stream_has_its_gap_and_its_end() {
    let server = trimmed();
    server.close("s");
    let events = Follower::resume(&server, &live(""), &at(0)).rest();
    let names: Vec<_> = events.iter().map(|event| event.event.as_str()).collect();
    assert_eq!(names, ["gap", "message", "closed"]);
    server.trim("s", 4);
    let events = Follower::resume(&server, &live(""), &at(0)).rest();
    assert_eq!(
        events,
        [gap(&at(0), 4), named("closed", &at(4), &format!("{{\"offset\":\"{}\"}}", at(4)))]
    );
}

#[test]
fn stream_has_gaps_too() {
    let server = TestServer::start();
    server.create("default", "text/plain");
    server.append("default", "text/plain", "aa");
    server.append("default", "text/plain", "cc");
    server.trim("default", 2);
    let mut follower = Follower::resume(&server, "/stream", &at(1));
    assert_eq!(follower.message(), gap(&at(1), 2));
    assert_eq!(follower.message(), message(&at(4), "cc"));
}

#[test]
fn the_protocols_modes_refuse_such_positions() {
    let server = trimmed();
    for mode in ["", "&live=long-poll", "&live=sse"] {
        let ask = |offset: &str| server.read(&format!("{}?offset={offset}{mode}", path("s")));
        let gone = ask(&at(1));
        assert_problem(&gone, 410, "offset_trimmed");
        assert_eq!(gone.header("Stream-Earliest-Offset"), Some(&*at(2)));
        let beyond = ask(&at(5));
        assert_problem(&beyond, 400, "offset_beyond_tail");
        assert_eq!(beyond.header("Stream-Next-Offset"), Some(&*at(4)));
    }
    let sse = format!("{}?live=sse&last_event_id=nonsense", path("s"));
    assert_problem(&server.read(&sse), 400, "bad_offset");
}

/// Trimming may overtake a follower that is far behind, in the midst of its follow.
#[test]
fn a_follow_that_is_overtaken_by_a_trim_is_told() {
    // A ring of no size: what follows is always read from the store.
    let server = TestServer::with(|config| config.ring_bytes_max = 0);
    server.create("s", "text/plain");
    server.append("s", "text/plain", "aa");
    let mut follower = Follower::open(&server, &live(""));
    assert_eq!(follower.message(), message(&at(2), "aa"));
    server.wait_for_followers(1);
    // Both at once, as far as the follower can tell: it may see the event or the gap.
    server.append("s", "text/plain", "bb");
    server.append("s", "text/plain", "cc");
    server.trim("s", 6);
    server.append("s", "text/plain", "dd");
    let mut ids = vec![at(2)];
    while ids.last() != Some(&at(8)) {
        let next = follower.message();
        assert!(ids.last() < Some(&next.id), "{next:?} after {ids:?}");
        if next.event == "gap" {
            assert_eq!(next.id, at(6));
        }
        ids.push(next.id);
    }
}
