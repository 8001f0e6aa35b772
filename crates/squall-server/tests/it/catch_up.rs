//! `GET` on a stream: pages of stored events, from any offset to the end.

use squall_testkit::http::Response;

use crate::support::{TestServer, assert_problem, at, path};

fn from(server: &TestServer, offset: &str) -> Response {
    server.read(&format!("{}?offset={offset}", path("s")))
}

fn next(found: &Response) -> String {
    found.header("Stream-Next-Offset").unwrap().to_owned()
}

/// What the header says about the tail.
fn up_to_date(found: &Response) -> bool {
    found.header("Stream-Up-To-Date") == Some("true")
}

/// A server with small pages, and a stream of `events` in it.
fn stage(content_type: &str, events: &[&str]) -> TestServer {
    let server = TestServer::with(|config| config.page_bytes_max = 8);
    server.create("s", content_type);
    for event in events {
        server.append("s", content_type, *event);
    }
    server
}

#[test]
fn pages_lead_to_the_end_and_only_the_last_says_so() {
    let server = stage("text/plain", &["abc", "defg", "hij", "a long event alone", "k"]);
    let (mut offset, mut texts) = ("-1".to_owned(), Vec::new());
    loop {
        let page = from(&server, &offset);
        assert_eq!((page.status, page.header("Content-Type")), (200, Some("text/plain")));
        texts.push(page.text());
        offset = next(&page);
        if up_to_date(&page) {
            break;
        }
        assert_eq!(page.header("Stream-Closed"), None);
    }
    assert_eq!(texts, ["abcdefg", "hij", "a long event alone", "k"]);
    let end = from(&server, &offset);
    assert_eq!((end.status, end.text(), next(&end)), (200, String::new(), offset));
    assert!(up_to_date(&end));
}

#[test]
fn no_offset_is_the_start() {
    let server = stage("text/plain", &["abc"]);
    assert_eq!(server.read(&path("s")).text(), "abc");
    assert_eq!(from(&server, &at(0)).text(), "abc");
}

#[test]
fn pages_of_json_are_whole_arrays() {
    let server = stage("application/json", &["[1,22,{\"a\":3}]", "[4]"]);
    let first = from(&server, "-1");
    assert_eq!((first.text().as_str(), next(&first)), ("[1,22]", at(3)));
    let second = from(&server, &next(&first));
    assert_eq!((second.text().as_str(), up_to_date(&second)), ("[{\"a\":3},4]", true));
    let end = from(&server, &next(&second));
    assert_eq!((end.text().as_str(), up_to_date(&end)), ("[]", true));
}

#[test]
fn an_offset_inside_an_event_gives_the_rest_of_it() {
    let server = stage("text/plain", &["abcdef", "g"]);
    let page = from(&server, &at(4));
    assert_eq!((page.text().as_str(), next(&page)), ("efg", at(7)));
}

#[test]
fn an_offset_inside_a_json_event_is_refused() {
    let server = stage("application/json", &["[10,20]"]);
    assert_eq!(from(&server, &at(2)).text(), "[20]");
    assert_problem(&from(&server, &at(1)), 400, "offset_inside_event");
}

#[test]
fn an_offset_beyond_the_tail_is_refused_and_the_tail_named() {
    let server = stage("text/plain", &["abc"]);
    for offset in [at(4), "9999999999999999_9999999999999999".to_owned()] {
        let refused = from(&server, &offset);
        assert_problem(&refused, 400, "offset_beyond_tail");
        assert_eq!(next(&refused), at(3));
    }
}

#[test]
fn what_is_no_offset_is_refused() {
    let server = stage("text/plain", &["abc"]);
    let wrong = [
        "",
        "0",
        "-2",
        "NOW",
        "1,2",
        "a%20b",
        "a/b",
        "%00",
        "%0d%0a",
        "0000000000000000_000000000000000a",
        "0000000000000000_0000000000000003%20",
        "-1&offset=-1",
        "now&offset=now",
    ];
    for offset in wrong {
        assert_problem(&from(&server, offset), 400, "bad_offset");
    }
    // Not UTF-8: the query cannot be read at all.
    assert_problem(&from(&server, "%ff"), 400, "bad_query");
}

#[test]
fn now_is_the_tail_and_last_the_newest_event() {
    let server = stage("text/plain", &[]);
    for offset in ["now", "last"] {
        let empty = from(&server, offset);
        assert_eq!((empty.status, empty.text(), next(&empty)), (200, String::new(), at(0)));
        assert!(up_to_date(&empty));
    }
    server.append("s", "text/plain", "abc");
    server.append("s", "text/plain", "de");
    let now = from(&server, "now");
    assert_eq!((now.text(), next(&now), up_to_date(&now)), (String::new(), at(5), true));
    let last = from(&server, "last");
    assert_eq!((last.text().as_str(), next(&last), up_to_date(&last)), ("de", at(5), true));
    server.create("j", "application/json");
    assert_eq!(server.read("/v1/stream/j?offset=now").text(), "[]");
    for found in [now, last] {
        assert_eq!(found.header("Cache-Control"), Some("no-store"));
        assert_eq!(found.header("ETag"), None);
    }
}

#[test]
fn closed_is_said_at_the_final_offset_alone() {
    let server = stage("text/plain", &["abcdefgh", "i"]);
    server.close("s");
    let first = from(&server, "-1");
    assert_eq!((first.header("Stream-Closed"), up_to_date(&first)), (None, false));
    for offset in [next(&first), at(9), "now".to_owned(), "last".to_owned()] {
        let end = from(&server, &offset);
        assert_eq!((end.status, end.header("Stream-Closed")), (200, Some("true")), "{offset}");
        assert!(up_to_date(&end));
    }
}

#[test]
fn a_trimmed_offset_is_gone_and_the_earliest_named() {
    let server = stage("text/plain", &["abc", "def", "g"]);
    server.trim("s", 4);
    let gone = from(&server, &at(2));
    assert_problem(&gone, 410, "offset_trimmed");
    assert_eq!(gone.header("Stream-Earliest-Offset"), Some(&*at(3)));
    assert_eq!(from(&server, "-1").text(), "defg");
    assert_eq!(from(&server, &at(3)).text(), "defg");
}

#[test]
fn a_missing_stream_is_404_in_every_mode() {
    let server = stage("text/plain", &[]);
    for query in
        ["", "?offset=now", "?live=events", "?offset=-1&live=sse", "?offset=-1&live=long-poll"]
    {
        assert_problem(
            &server.read(&format!("/v1/stream/missing{query}")),
            404,
            "stream_not_found",
        );
    }
}

#[test]
fn unknown_parameters_are_ignored_and_unknown_modes_are_not() {
    let server = stage("text/plain", &["abc"]);
    assert_eq!(from(&server, "-1&x=1&x=2").text(), "abc");
    for mode in ["", "true", "SSE", "sse&live=sse"] {
        assert_problem(&from(&server, &format!("-1&live={mode}")), 400, "bad_query");
    }
}
