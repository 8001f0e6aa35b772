//! Each step does what it says, and the record agrees with the client.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use squall_testkit::http::Request;
use squall_testkit::scripted::{
    After, Ending, Script, ScriptedServer, Step, chunked, monotonic_ns, reply, sse_event,
    sse_event_plain, sse_head, sse_head_plain,
};

use super::support::{connect, get, open, read_to_end, wait_for_end};

fn start(steps: impl Into<Vec<Step>>, after: After) -> ScriptedServer {
    ScriptedServer::start(Script::new().each_connection(steps).then(after))
}

/// Plays `steps` to a client that sends `sent` and reads to the end; compares what it got.
fn check(steps: impl Into<Vec<Step>>, sent: &str, expected: Result<&str, ErrorKind>) {
    let server = start(steps, After::Close);
    let socket = connect(&server);
    (&socket).write_all(sent.as_bytes()).unwrap();
    assert_eq!(read_to_end(&socket), expected.map(String::from), "{sent:?}");
    let record = server.record();
    let ending = record.connections[0].ending.clone();
    let expected = if expected.is_ok() { Ending::ScriptClosed } else { Ending::ScriptReset };
    assert_eq!(ending, Some(expected));
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

const GET: &str = "GET / HTTP/1.1\r\n\r\n";

#[test]
fn send_sends_the_bytes_as_they_are() {
    check([Step::Send(b"x\r".into()), Step::Send(b"\ny".into())], "", Ok("x\r\ny"));
    check([Step::Request, Step::Send(b"no HTTP".into())], GET, Ok("no HTTP"));
    check([Step::Requests(3), Step::Send(b"3".into())], &GET.repeat(3), Ok("3"));
}

#[test]
fn close_is_a_fin_even_with_requests_unread() {
    check([Step::Request, Step::Send(b"1".into()), Step::Close], &GET.repeat(5), Ok("1"));
}

#[test]
fn steps_behind_a_close_are_not_played() {
    check([Step::Close, Step::Send(b"never".into())], "", Ok(""));
}

#[test]
fn reset_is_a_reset() {
    check([Step::Request, Step::Reset], GET, Err(ErrorKind::ConnectionReset));
}

#[test]
fn echo_replies_with_the_body_of_the_last_request() {
    let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    let abc = text(reply(200, "abc"));
    check([Step::Request, Step::Echo], chunked, Ok(&abc));
    let server = start([Step::Request, Step::Echo], After::Repeat);
    let mut connection = open(&server);
    for length in [0, 1, 100_000] {
        let body = vec![b'x'; length];
        let response = connection.call(&Request::new("POST", "/").body(body.clone())).unwrap();
        assert_eq!(response.body, body);
    }
}

#[test]
fn echo_works_without_kept_requests() {
    let script = Script::new().each_connection([Step::Request, Step::Echo]).keep_requests(false);
    let server = ScriptedServer::start(script);
    let response = open(&server).call(&Request::new("POST", "/").body("abc")).unwrap();
    assert_eq!(response.text(), "abc");
    assert!(server.record().connections[0].requests[0].content.is_none());
}

#[test]
fn a_request_is_kept_as_it_came() {
    let server = start([Step::Request, Step::Echo], After::Close);
    let request = Request::new("POST", "/x").header("A", "b").body("abc");
    open(&server).call(&request).unwrap();
    let record = server.record();
    let content = record.connections[0].requests[0].content.as_ref().unwrap();
    assert!(content.head_text().starts_with("POST /x HTTP/1.1\r\n"), "{}", content.head_text());
    assert!(content.head_text().contains("\r\nA: b\r\n"), "{}", content.head_text());
    assert_eq!(content.body, b"abc");
}

/// A rest between the portions lets the client read one by one, unless it is kept from running.
#[test]
fn send_split_sends_portions() {
    let pause = Duration::from_millis(20);
    let split = Step::SendSplit { bytes: b"abcdefgh".into(), portion: 3, pause };
    let server = start([split], After::Close);
    let read_in_portions = || {
        let mut socket = connect(&server);
        let mut portions = Vec::new();
        let mut buffer = [0; 100];
        loop {
            match socket.read(&mut buffer).unwrap() {
                0 => break portions,
                count => portions.push(text(buffer[..count].to_vec())),
            }
        }
    };
    assert!((0..50).any(|_| read_in_portions() == ["abc", "def", "gh"]));
    for connection in server.record().connections {
        assert!(connection.ended_at.unwrap() - connection.accepted_at >= 40_000_000);
    }
    let all_at_once = Step::SendSplit { bytes: b"ab".into(), portion: 0, pause: Duration::ZERO };
    check([all_at_once], "", Ok("ab"));
}

#[test]
fn wait_lets_time_pass_before_the_reply() {
    let wait = Step::Wait(Duration::from_millis(40));
    let server = start([Step::Request, wait, Step::Echo], After::Repeat);
    let mut connection = open(&server);
    for _ in 0..2 {
        connection.call(&get()).unwrap();
    }
    for request in &server.record().connections[0].requests {
        assert!(request.replied_at.unwrap() - request.read_at >= 40_000_000);
    }
}

#[test]
fn half_close_ends_the_replies_and_still_reads() {
    let server = start([Step::Send(b"x".into()), Step::HalfClose, Step::Drain], After::Close);
    let socket = connect(&server);
    assert_eq!(read_to_end(&socket), Ok("x".into()));
    (&socket).write_all(&[0; 1000]).unwrap();
    drop(socket);
    assert_eq!(wait_for_end(&server, 0), Ending::ClientClosed);
    assert_eq!(server.record().connections[0].bytes_read, 1000);
}

#[test]
fn a_client_that_leaves_is_told_from_a_script_that_closes() {
    let server = start([Step::Request, Step::Echo], After::Repeat);
    let mut connection = open(&server);
    connection.call(&get()).unwrap();
    connection.send_bytes(b"GET / HT").unwrap();
    drop(connection);
    assert_eq!(wait_for_end(&server, 0), Ending::ClientClosed);
    let record = server.stop();
    assert_eq!((record.requests(), record.replies(), record.open()), (1, 1, 0));
}

#[test]
fn what_is_no_request_ends_the_connection() {
    let server = start([Step::Request, Step::Echo], After::Repeat);
    let mut connection = open(&server);
    connection.send_bytes(b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n").unwrap();
    assert_eq!(wait_for_end(&server, 0), Ending::Malformed("a length is not a number"));
}

#[test]
fn each_connection_has_its_part_of_the_script() {
    let script = Script::new()
        .connection([Step::Request, Step::Reset], After::Close)
        .connection([Step::Request, Step::Send(reply(503, "no"))], After::Close)
        .each_connection([Step::Request, Step::Send(chunked(200, &["o", "k"]))])
        .then(After::Repeat);
    let server = ScriptedServer::start(script);
    assert!(open(&server).call(&get()).is_err());
    assert_eq!(open(&server).call(&get()).unwrap().status, 503);
    for _ in 0..2 {
        let mut connection = open(&server);
        for _ in 0..3 {
            assert_eq!(connection.call(&get()).unwrap().text(), "ok");
        }
    }
    let record = server.record();
    assert_eq!((record.accepted(), record.requests(), record.replies()), (4, 8, 7));
}

#[test]
fn events_come_in_chunks_or_plain() {
    let steps = [Step::Request, Step::Send(sse_head()), Step::Send(sse_event(1, "a"))];
    let server = start(steps, After::Stall);
    let mut connection = open(&server);
    connection.send(&get()).unwrap();
    assert_eq!(connection.receive_head().unwrap().status, 200);
    assert_eq!(connection.receive_chunk().unwrap(), b"id: 1\ndata: a\n\n");

    let steps = [
        Step::Request,
        Step::Send(sse_head_plain()),
        Step::Send(sse_event_plain(1, "a")),
        Step::Send(sse_event_plain(2, "b")),
    ];
    let server = start(steps, After::Close);
    let response = open(&server).call(&get()).unwrap();
    assert_eq!(response.text(), "id: 1\ndata: a\n\nid: 2\ndata: b\n\n");
    assert_eq!(server.record().replies(), 1);
}

/// The moment a client has a reply, the record has it too, with times inside the client's own.
#[test]
fn the_record_is_never_behind_the_client() {
    let server = start([Step::Request, Step::Echo], After::Repeat);
    let mut connection = open(&server);
    let body = vec![b'x'; 300_000];
    for count in 1..=200_u64 {
        let request =
            if count % 10 == 0 { Request::new("POST", "/").body(body.clone()) } else { get() };
        let sent_at = monotonic_ns();
        connection.call(&request).unwrap();
        let received_at = monotonic_ns();
        let record = server.record();
        assert_eq!((record.requests(), record.replies()), (count, count));
        let request = record.connections[0].requests.last().unwrap();
        assert!(sent_at <= request.read_at);
        assert!(request.read_at <= request.replied_at.unwrap());
        assert!(request.replied_at.unwrap() <= received_at);
    }
}
