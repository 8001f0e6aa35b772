//! What a head may look like.

use super::support::*;

/// Reads a head, whatever follows, and a body of five bytes.
fn check(head: &str) {
    let outcome = read(format!("{head}hello").as_bytes());
    assert!(outcome.is_orderly(), "{head}: {outcome:?}");
    assert_eq!(outcome.head().status, 200, "{head}");
    assert_eq!(outcome.body(), b"hello", "{head}");
}

#[test]
fn heads_are_read_as_leniently_as_is_unambiguous() {
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    check("HTTP/1.1 200 OK\nContent-Length: 5\n\n");
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\n");
    check("HTTP/1.1 200 OK\nContent-Length: 5\r\n\n");
    check("HTTP/1.1 200\r\nContent-Length: 5\r\n\r\n");
    check("HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\n");
    check("HTTP/1.1  200  Very  OK \r\nContent-Length: 5\r\n\r\n");
    check("HTTP/1.1 200 \u{fc}ber\r\nContent-Length: 5\r\n\r\n");
    check("HTTP/1.1 200 OK\r\nX-Folded: one\r\n two\r\n \r\nContent-Length: 5\r\n\r\n");
    check("HTTP/1.1 200 OK\r\nX-Empty:\r\nX-\u{7e}: \u{fc}\r\nContent-Length:5\r\n\r\n");
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Last:\r\n\r\n");
}

#[test]
fn empty_lines_before_a_head_are_skipped() {
    check("\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    check("\n\r\n\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
}

#[test]
fn what_is_no_head_is_an_error_with_a_name() {
    let check = |wire: &str, expected| {
        let outcome = read(wire.as_bytes());
        assert_eq!(outcome.end, Err(expected), "{wire}");
        assert_eq!(outcome.parts, []);
    };
    check("\x16\x03\x01\x02", FramingError::NotHttp);
    check("<html>", FramingError::NotHttp);
    check("HTTP/2 200 OK\r\n\r\n", FramingError::NotHttp);
    check("HTTP/1.2 200 OK\r\n\r\n", FramingError::NotHttp);
    check("http/1.1 200 OK\r\n\r\n", FramingError::NotHttp);
    check("HTTP/1.1\t200 OK\r\n\r\n", FramingError::NotHttp);
    check("ICY 200 OK\r\n\r\n", FramingError::NotHttp);
    check("\rHTTP/1.1 200 OK\r\n\r\n", FramingError::NotHttp);
    check("HTTP/1.1 20 OK\r\n", FramingError::StatusLine);
    check("HTTP/1.1 OK\r\n", FramingError::StatusLine);
    check("HTTP/1.1 2000 OK\r\n", FramingError::StatusLine);
    check("HTTP/1.1 200 O\0K\r\n", FramingError::StatusLine);
    check("HTTP/1.1 200 OK\r\r\n\r\n", FramingError::StatusLine);
    check("HTTP/1.1 200 OK\r\nno colon\r\n", FramingError::HeaderName);
    check("HTTP/1.1 200 OK\r\n: nameless\r\n", FramingError::HeaderName);
    check("HTTP/1.1 200 OK\r\n Folded: first\r\n", FramingError::HeaderName);
    check("HTTP/1.1 200 OK\r\nX: a\0b\r\n", FramingError::HeaderValue);
    check("HTTP/1.1 200 OK\r\nX: a\rb\r\n", FramingError::HeaderValue);
    check("HTTP/1.1 200 OK\r\nX: a\r\n\rb\r\n", FramingError::LineEnd);
}

#[test]
fn what_is_not_http_is_refused_before_its_first_line_ends() {
    let limits = ResponseLimits::default();
    let mut reader = ResponseReader::new();
    let read =
        reader.read(&mut &b"SSH-2.0"[..], RequestKind::Other, &mut HeadCache::new(), &limits);
    assert_eq!(read, Err(FramingError::NotHttp));
}

#[test]
fn http_1_1_persists_unless_told_otherwise_and_http_1_0_does_not() {
    let check = |head: &str, expected| {
        let outcome = read(format!("{head}\r\nContent-Length: 0\r\n\r\n").as_bytes());
        assert_eq!(outcome.head().keep_alive, expected, "{head}");
    };
    check("HTTP/1.1 200 OK", true);
    check("HTTP/1.1 200 OK\r\nConnection:keep-alive", true);
    check("HTTP/1.1 200 OK\r\nConnection: close", false);
    check("HTTP/1.1 200 OK\r\nconnection:CLOSE", false);
    check("HTTP/1.1 200 OK\r\nConnection: X-One ,\tclose", false);
    check("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: Close", false);
    check("HTTP/1.1 200 OK\r\nConnection: closed", true);
    check("HTTP/1.1 200 OK\r\nConnection: x,\r\n close", false);
    check("HTTP/1.0 200 OK", false);
    check("HTTP/1.0 200 OK\r\nConnection: Keep-Alive", true);
    check("HTTP/1.0 200 OK\r\nConnection: x, keep-alive", true);
    check("HTTP/1.0 200 OK\r\nConnection: keep-alive, close", false);
}

#[test]
fn a_body_until_the_end_or_chunks_in_http_1_0_cannot_be_followed_by_a_reply() {
    let check = |wire: &str| assert!(!read(wire.as_bytes()).head().keep_alive, "{wire}");
    check("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n");
    check("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n");
}

#[test]
fn an_event_stream_is_told_by_its_media_type() {
    let check = |content_type: &str, expected| {
        let wire = format!("HTTP/1.1 200 OK\r\nContent-Type:{content_type}\r\n\r\n");
        assert_eq!(read(wire.as_bytes()).head().is_event_stream, expected, "{content_type}");
    };
    check(" text/event-stream", true);
    check("Text/Event-Stream ; charset=utf-8", true);
    check("text/event-stream;charset=utf-8", true);
    check(" text/event-streams", false);
    check(" text/html; a=text/event-stream", false);
    check("", false);
}

/// A large head and many headers, as in web-frameworks#6623 and in ab's fixed buffer.
#[test]
fn large_heads_are_read() {
    let check = |headers: String| {
        let wire = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: 5\r\n\r\nhello");
        let limits = ResponseLimits::default();
        let kinds = [RequestKind::Other];
        let whole = read_portions([wire.as_bytes()].into_iter(), &kinds, &limits);
        assert!(whole.is_orderly());
        assert_eq!(whole.body(), b"hello");
        for portion_bytes in [1, 1460, 4096] {
            let cut = read_portions(wire.as_bytes().chunks(portion_bytes), &kinds, &limits);
            assert_eq!(cut, whole);
        }
    };
    check(format!("X-Long: {}\r\n", "x".repeat(64 * 1024)));
    check((0..500).map(|number| format!("X-{number}: {number}\r\n")).collect());
}
