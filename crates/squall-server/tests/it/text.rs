//! Text over Server-Sent Events: spaces, line ends and characters survive any cut.

use crate::follower::{Follower, message};
use crate::support::{TestServer, at, path};

/// A server with an empty text stream, and a follower of it in each of the two dialects.
fn stage() -> (TestServer, [Follower; 2]) {
    let server = TestServer::start();
    server.create("s", "text/plain");
    let followers = followers(&server);
    (server, followers)
}

fn followers(server: &TestServer) -> [Follower; 2] {
    ["live=events", "live=sse&offset=-1"]
        .map(|query| Follower::open(server, &format!("{}?{query}", path("s"))))
}

/// The next text that comes, and the id that comes with it. Control messages are passed over.
fn next(follower: &mut Follower) -> Option<(String, String)> {
    loop {
        let message = follower.next()?;
        if matches!(&*message.event, "message" | "data") {
            return Some((message.data, message.id));
        }
    }
}

/// All text up to the end of a closed stream, and the last id.
fn all(mut follower: Follower) -> (String, String) {
    let mut text = String::new();
    while let Some((data, _)) = next(&mut follower) {
        text.push_str(&data);
    }
    (text, follower.cursor().to_owned())
}

/// The space that a client strips must not be one of the text: `"Hello"`, `" world"` came
/// out as `Helloworld` of the published Durable Streams servers.
#[test]
fn a_leading_space_is_kept() {
    let (server, live) = stage();
    for part in ["Hello", " world", "  \n two", " "] {
        server.append("s", "text/plain", part);
    }
    server.close("s");
    for follower in live.into_iter().chain(followers(&server)) {
        assert_eq!(all(follower).0, "Hello world  \n two ");
    }
}

/// One line break, not two: `axum#3870`. A catch-up has the bytes as they are.
#[test]
fn a_line_end_is_one_line_break_however_it_is_written() {
    let (server, mut live) = stage();
    server.append("s", "text/plain", "first\r\nsecond\rthird\n\nfourth\n");
    for follower in &mut live {
        assert_eq!(next(follower).unwrap().0, "first\nsecond\nthird\n\nfourth\n");
    }
    assert_eq!(server.read(&path("s")).body, b"first\r\nsecond\rthird\n\nfourth\n");
}

#[test]
fn text_that_looks_like_fields_is_text() {
    let (server, mut live) = stage();
    let text = "id: 9\n\nevent: closed\ndata:x\n:\n\u{feff}";
    server.append("s", "text/plain", text);
    for follower in &mut live {
        assert_eq!(next(follower).unwrap(), (text.to_owned(), at(text.len() as u64)));
    }
}

/// The bytes of one `€` in two appends are one `€`, not two U+FFFD, as the crate
/// durable-streams has it. Meanwhile the id points before what is held back.
#[test]
fn a_character_split_across_two_appends_arrives_once() {
    let (server, mut live) = stage();
    server.append("s", "text/plain", b"a\xe2".to_vec());
    for follower in &mut live {
        assert_eq!(next(follower).unwrap(), ("a".to_owned(), at(1)));
    }
    server.append("s", "text/plain", b"\x82\xacb".to_vec());
    for follower in &mut live {
        assert_eq!(next(follower).unwrap(), ("€b".to_owned(), at(5)));
    }
    // From any id that was ever sent, nothing is lost and nothing comes twice.
    for (id, text) in [(0, "a€b"), (1, "€b")] {
        for query in ["live=events", "live=sse&offset=-1"] {
            let mut resumed = Follower::resume(&server, &format!("{}?{query}", path("s")), &at(id));
            let mut found = String::new();
            let mut last = String::new();
            while found.len() < text.len() {
                let (data, id) = next(&mut resumed).unwrap();
                found.push_str(&data);
                last = id;
            }
            assert_eq!((found.as_str(), last), (text, at(5)));
        }
    }
}

#[test]
fn a_character_may_come_byte_by_byte() {
    let (server, mut live) = stage();
    for byte in "💩!".bytes() {
        server.append("s", "text/plain", [byte]);
    }
    for follower in &mut live {
        let mut found = String::new();
        while found.len() < 5 {
            found.push_str(&next(follower).unwrap().0);
        }
        assert_eq!(found, "💩!");
        assert_eq!(follower.cursor(), at(5));
    }
}

/// A follow that begins with nothing but the first byte of a character waits for the rest,
/// and the server is free for others meanwhile.
#[test]
fn a_stored_half_of_a_character_waits_for_the_other_half() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    server.append("s", "text/plain", b"\xe2".to_vec());
    let mut live = followers(&server);
    server.append("s", "text/plain", b"\x82\xac".to_vec());
    for follower in &mut live {
        assert_eq!(next(follower).unwrap(), ("€".to_owned(), at(3)));
    }
}

/// Nothing can follow a closed stream, so what is left of a character goes out as U+FFFD.
#[test]
fn a_character_that_is_never_completed_is_replaced_at_the_close() {
    let (server, live) = stage();
    server.append("s", "text/plain", b"a\xe2\x82".to_vec());
    server.close("s");
    for follower in live.into_iter().chain(followers(&server)) {
        assert_eq!(all(follower), ("a\u{fffd}".to_owned(), at(3)));
    }
    assert_eq!(server.read(&path("s")).body, b"a\xe2\x82");
}

#[test]
fn a_stored_half_of_a_character_is_replaced_when_the_stream_is_closed_later() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    server.append("s", "text/plain", b"\xf0\x9f".to_vec());
    let live = followers(&server);
    server.wait_for_followers(2);
    server.close("s");
    for follower in live {
        assert_eq!(all(follower), ("\u{fffd}".to_owned(), at(2)));
    }
}

#[test]
fn bytes_that_are_no_utf_8_are_replaced_on_the_way_and_kept_in_the_store() {
    let (server, mut live) = stage();
    server.append("s", "text/plain", b"a\xffb\xc0".to_vec());
    server.append("s", "text/plain", b"c".to_vec());
    for follower in &mut live {
        let mut found = String::new();
        while !found.ends_with('c') {
            found.push_str(&next(follower).unwrap().0);
        }
        assert_eq!(found, "a\u{fffd}b\u{fffd}c");
    }
    assert_eq!(server.read(&path("s")).body, b"a\xffb\xc0c");
}

/// The protocol's mode says where it stands even while it has nothing to show.
#[test]
fn a_control_comes_first_where_only_half_a_character_is_stored() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    server.append("s", "text/plain", b"\xe2".to_vec());
    let mut follower = Follower::open(&server, &format!("{}?live=sse&offset=-1", path("s")));
    let first = follower.message();
    assert_eq!((first.event.as_str(), first.id.as_str()), ("control", &*at(0)));
}

/// A half that is stored before an event larger than a page: both must be read together,
/// and no more than that.
#[test]
fn a_half_before_a_large_event_is_completed_by_it() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    server.append("s", "text/plain", b"\xe2".to_vec());
    let mut large = b"\x82\xac".to_vec();
    large.resize(300_000, b'x');
    server.append("s", "text/plain", large);
    let expected = format!("€{}", "x".repeat(299_998));
    for follower in &mut followers(&server) {
        assert_eq!(next(follower).unwrap(), (expected.clone(), at(300_001)));
    }
}

#[test]
fn an_empty_line_is_a_message() {
    let (server, [mut events, _]) = stage();
    server.append("s", "text/plain", "\n");
    assert_eq!(events.message(), message(&at(1), "\n"));
}
