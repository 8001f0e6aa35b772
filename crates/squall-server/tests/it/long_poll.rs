//! `live=long-poll`: an answer at once if there is one, otherwise when there is.

use std::time::Duration;

use squall_server::Ended;
use squall_testkit::http::{Connection, Request, Response};

use crate::support::{TestServer, assert_problem, at, path, post};

fn ask(offset: &str) -> Request {
    Request::new("GET", &format!("{}?live=long-poll&offset={offset}", path("s")))
}

/// A request that is on its way, and known to be waiting.
fn waiting(server: &TestServer, offset: &str) -> Connection {
    let mut connection = server.connect();
    connection.send(&ask(offset)).unwrap();
    server.wait_for_followers(1);
    connection
}

fn stage(wait: Duration) -> TestServer {
    let server = TestServer::with(|config| config.long_poll_max = wait);
    server.create("s", "text/plain");
    server
}

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(20);

fn cursor(found: &Response) -> u64 {
    found.header("Stream-Cursor").unwrap().parse().unwrap()
}

#[test]
fn what_is_there_is_given_at_once() {
    let server = stage(LONG);
    server.append("s", "text/plain", "abc");
    for (offset, text) in [("-1", "abc"), (&*at(1), "bc"), ("last", "abc")] {
        let found = server.call(&ask(offset));
        assert_eq!((found.status, found.text().as_str()), (200, text));
        assert_eq!(found.header("Stream-Next-Offset"), Some(&*at(3)));
        assert_eq!(found.header("Stream-Up-To-Date"), Some("true"));
        assert!(cursor(&found) > 0);
    }
}

#[test]
fn an_append_wakes_the_waiter() {
    for offset in ["now", &*at(0), "-1"] {
        let server = stage(LONG);
        let mut connection = waiting(&server, offset);
        server.append("s", "text/plain", "abc");
        let found = connection.receive("GET").unwrap();
        assert_eq!((found.status, found.text().as_str()), (200, "abc"));
        assert_eq!(found.header("Stream-Next-Offset"), Some(&*at(3)));
        assert_eq!(found.header("Content-Type"), Some("text/plain"));
    }
}

#[test]
fn nothing_in_time_is_204_with_the_tail() {
    let server = stage(SHORT);
    server.append("s", "text/plain", "abc");
    let found = server.call(&ask("now"));
    assert_eq!((found.status, found.body.len()), (204, 0));
    assert_eq!(found.header("Stream-Next-Offset"), Some(&*at(3)));
    assert_eq!(found.header("Stream-Up-To-Date"), Some("true"));
    assert_eq!(found.header("Stream-Closed"), None);
    assert!(cursor(&found) > 0);
}

#[test]
fn a_closed_stream_is_not_waited_for() {
    let server = stage(LONG);
    server.append("s", "text/plain", "abc");
    server.close("s");
    for offset in ["now", &*at(3)] {
        let found = server.call(&ask(offset));
        assert_eq!((found.status, found.header("Stream-Closed")), (204, Some("true")));
        assert_eq!(found.header("Stream-Next-Offset"), Some(&*at(3)));
    }
    let rest = server.call(&ask(&at(1)));
    assert_eq!((rest.status, rest.text().as_str()), (200, "bc"));
    assert_eq!(rest.header("Stream-Closed"), Some("true"));
}

#[test]
fn a_close_wakes_the_waiter() {
    let server = stage(LONG);
    let mut connection = waiting(&server, "now");
    server.close("s");
    let found = connection.receive("GET").unwrap();
    assert_eq!((found.status, found.header("Stream-Closed")), (204, Some("true")));
}

/// The last event and the close come in one append; neither may hide the other.
/// `durable-streams#376`
#[test]
fn an_append_that_closes_gives_its_event_and_the_close() {
    let server = stage(LONG);
    let mut connection = waiting(&server, "now");
    let last = post("s").header("Content-Type", "text/plain").header("Stream-Closed", "true");
    assert_eq!(server.call(&last.body("end")).status, 204);
    let found = connection.receive("GET").unwrap();
    assert_eq!((found.status, found.text().as_str()), (200, "end"));
    assert_eq!(found.header("Stream-Closed"), Some("true"));
}

#[test]
fn a_stream_that_is_deleted_meanwhile_is_404() {
    let server = stage(LONG);
    let mut connection = waiting(&server, "now");
    server.delete("s");
    // At once a stream of that name again: it is not the one that is waited for.
    server.create("s", "text/plain");
    server.append("s", "text/plain", "of another stream");
    assert_problem(&connection.receive("GET").unwrap(), 404, "stream_not_found");
}

#[test]
fn a_cursor_is_always_greater_than_the_one_before() {
    let server = stage(SHORT);
    server.append("s", "text/plain", "abc");
    let mut last = cursor(&server.call(&ask("-1")));
    for offset in ["now", "-1", "now"] {
        let request = Request::new(
            "GET",
            &format!("{}?live=long-poll&offset={offset}&cursor={last}", path("s")),
        );
        let next = cursor(&server.call(&request));
        assert!(next > last, "{next} {last}");
        last = next;
    }
    let old = Request::new("GET", &format!("{}?live=long-poll&offset=-1&cursor=1", path("s")));
    assert!(cursor(&server.call(&old)) > 1);
    let wrong = Request::new("GET", &format!("{}?live=long-poll&offset=-1&cursor=x", path("s")));
    assert_problem(&server.call(&wrong), 400, "bad_query");
}

#[test]
fn an_offset_is_needed_and_must_exist() {
    let server = stage(LONG);
    server.append("s", "text/plain", "abc");
    server.append("s", "text/plain", "def");
    assert_problem(&server.read(&format!("{}?live=long-poll", path("s"))), 400, "bad_offset");
    assert_problem(&server.call(&ask(&at(7))), 400, "offset_beyond_tail");
    server.trim("s", 3);
    assert_problem(&server.call(&ask(&at(0))), 410, "offset_trimmed");
}

#[test]
fn a_shutdown_ends_the_wait_as_if_its_time_were_over() {
    let server = stage(LONG);
    let mut connection = waiting(&server, "now");
    let ended = std::thread::spawn(move || server.stop());
    let found = connection.receive("GET").unwrap();
    assert_eq!((found.status, found.header("Stream-Next-Offset")), (204, Some(&*at(0))));
    drop(connection);
    assert_eq!(ended.join().unwrap(), Ended::Drained);
}

#[test]
fn as_many_wait_as_may_and_the_next_is_told_when_to_come_again() {
    let server = TestServer::with(|config| config.followers_max = 1);
    server.create("s", "text/plain");
    let _first = waiting(&server, "now");
    let refused = server.call(&ask("now"));
    assert_problem(&refused, 503, "too_many_followers");
    assert!(refused.header("Retry-After").is_some());
}
