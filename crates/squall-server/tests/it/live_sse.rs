//! `live=sse`: the protocol's framing, data and control together.

use squall_testkit::http::Request;

use crate::follower::{Follower, Message, named};
use crate::support::{TestServer, assert_problem, at, path};

fn live(offset: &str) -> String {
    format!("{}?live=sse&offset={offset}", path("s"))
}

fn stage(content_type: &str) -> TestServer {
    let server = TestServer::start();
    server.create("s", content_type);
    server
}

/// What a control message says.
#[derive(Debug, PartialEq, Eq)]
struct Control {
    next: String,
    up_to_date: bool,
    closed: bool,
    cursor: Option<u64>,
}

fn control(message: &Message) -> Control {
    assert_eq!(message.event, "control", "{message:?}");
    let said: serde_json::Value = serde_json::from_str(&message.data).unwrap();
    let found = Control {
        next: said["streamNextOffset"].as_str().unwrap().to_owned(),
        up_to_date: said["upToDate"] == true,
        closed: said["streamClosed"] == true,
        cursor: said["streamCursor"].as_str().map(|cursor| cursor.parse().unwrap()),
    };
    assert_eq!(found.next, message.id);
    assert_eq!(found.cursor.is_none(), found.closed);
    found
}

/// The data of one message, and the position that its control message gives.
fn pair(follower: &mut Follower) -> (String, String) {
    let data = follower.message();
    assert_eq!(data.event, "data", "{data:?}");
    let control = control(&follower.message());
    assert_eq!(data.id, control.next);
    (data.data, control.next)
}

/// Three public tests stop reading after the first write, and clients may as well.
#[test]
fn data_and_its_control_leave_in_one_write_with_one_id() {
    let server = stage("text/plain");
    server.append("s", "text/plain", "one\ntwo");
    let mut follower = Follower::open(&server, &live("-1"));
    let chunk = follower.chunk().unwrap();
    let id = at(7);
    let head = format!("id: {id}\nevent: data\ndata:one\ndata:two\n\nid: {id}\nevent: control\n");
    assert!(chunk.starts_with(&head), "{chunk}");
    assert_eq!(pair(&mut follower), ("one\ntwo".to_owned(), id));
    server.append("s", "text/plain", "x");
    let chunk = follower.chunk().unwrap();
    assert!(chunk.contains("event: data") && chunk.contains("event: control"), "{chunk}");
}

#[test]
fn the_control_behind_the_last_data_says_up_to_date() {
    let server = stage("text/plain");
    server.append("s", "text/plain", "a".repeat(40_000));
    server.append("s", "text/plain", "b");
    let mut follower = Follower::open(&server, &live("-1"));
    assert_eq!(follower.message().data.len(), 40_000);
    assert!(!control(&follower.message()).up_to_date);
    assert_eq!(follower.message().data, "b");
    assert!(control(&follower.message()).up_to_date);
    server.append("s", "text/plain", "c");
    assert_eq!(follower.message().data, "c");
    assert!(control(&follower.message()).up_to_date);
}

#[test]
fn a_follow_at_the_tail_first_says_where_it_is() {
    let server = stage("text/plain");
    for (offset, position) in [("-1", 0), ("now", 0), ("last", 0), (&*at(0), 0)] {
        let mut follower = Follower::open(&server, &live(offset));
        let first = control(&follower.message());
        assert_eq!((first.next, first.up_to_date), (at(position), true), "{offset}");
    }
    server.append("s", "text/plain", "abc");
    let mut now = Follower::open(&server, &live("now"));
    assert_eq!(control(&now.message()).next, at(3));
    server.append("s", "text/plain", "d");
    assert_eq!(pair(&mut now), ("d".to_owned(), at(4)));
}

#[test]
fn a_closed_stream_ends_with_its_final_control() {
    let server = stage("text/plain");
    server.append("s", "text/plain", "abc");
    let mut waiting = Follower::open(&server, &live("now"));
    assert!(!control(&waiting.message()).closed);
    let mut reading = Follower::open(&server, &live("-1"));
    assert_eq!(pair(&mut reading), ("abc".to_owned(), at(3)));
    server.close("s");
    for follower in [waiting, reading] {
        let mut follower = follower;
        let last = control(&follower.message());
        assert_eq!((last.next.as_str(), last.closed), (&*at(3), true));
        follower.assert_ended();
    }
    // The data of a stream that is closed already carries the end with it; always 200.
    let mut late = Follower::open(&server, &live("-1"));
    assert_eq!(late.message(), named("data", &at(3), "abc"));
    assert!(control(&late.message()).closed);
    late.assert_ended();
    for offset in ["now", &*at(3)] {
        let mut end = Follower::resume(&server, &live(offset), &at(3));
        assert!(control(&end.message()).closed);
        end.assert_ended();
    }
}

/// `durable-streams#376`
#[test]
fn an_append_that_closes_is_delivered_before_the_end() {
    let server = stage("text/plain");
    let mut follower = Follower::open(&server, &live("now"));
    assert!(control(&follower.message()).up_to_date);
    let last = Request::new("POST", &path("s")).header("Stream-Closed", "true");
    server.call(&last.header("Content-Type", "text/plain").body("end"));
    assert_eq!(follower.message(), named("data", &at(3), "end"));
    assert!(control(&follower.message()).closed);
    follower.assert_ended();
}

#[test]
fn every_data_of_a_json_stream_is_a_whole_array() {
    let server = stage("application/json");
    server.append("s", "application/json", "[{\"a\" : 1}, [2]]");
    let mut follower = Follower::open(&server, &live("-1"));
    assert_eq!(pair(&mut follower), ("[{\"a\" : 1},[2]]".to_owned(), at(12)));
    server.append("s", "application/json", "3");
    assert_eq!(pair(&mut follower), ("[3]".to_owned(), at(13)));
}

#[test]
fn bytes_go_as_base64_and_the_head_says_so() {
    let server = stage("application/octet-stream");
    server.append("s", "application/octet-stream", [1]);
    server.append("s", "application/octet-stream", [2, 255]);
    let mut follower = Follower::open(&server, &live("-1"));
    assert_eq!(follower.head.header("stream-sse-data-encoding"), Some("base64"));
    assert_eq!(pair(&mut follower), ("AQL/".to_owned(), at(3)));
    server.append("s", "application/octet-stream", [3]);
    assert_eq!(pair(&mut follower), ("Aw==".to_owned(), at(4)));
    let text = Follower::open(&stage("text/markdown"), &live("-1"));
    assert_eq!(text.head.header("stream-sse-data-encoding"), None);
}

#[test]
fn an_offset_is_needed_unless_an_id_is_given() {
    let server = stage("text/plain");
    server.append("s", "text/plain", "abc");
    assert_problem(&server.read(&format!("{}?live=sse", path("s"))), 400, "bad_offset");
    let mut by_id = Follower::resume(&server, &format!("{}?live=sse", path("s")), &at(1));
    assert_eq!(pair(&mut by_id), ("bc".to_owned(), at(3)));
    // The address of a browser that connects again still holds the offset of its start.
    let mut resumed = Follower::resume(&server, &live("-1"), &at(2));
    assert_eq!(pair(&mut resumed), ("c".to_owned(), at(3)));
}

#[test]
fn a_cursor_moves_on_with_every_connection() {
    let server = stage("text/plain");
    let cursor = |query: &str| {
        let target = format!("{}{query}", live("now"));
        control(&Follower::open(&server, &target).message()).cursor.unwrap()
    };
    let first = cursor("");
    let second = cursor(&format!("&cursor={first}"));
    assert!(second > first);
    assert!(cursor(&format!("&cursor={second}")) > second);
}
