//! Several replies, and the end of a connection.

use super::support::*;

/// What each part was, in one letter and its length or status.
fn story(outcome: &Outcome) -> String {
    let words = outcome.parts.iter().map(|part| match part {
        Part::Interim(status) => format!("i{status}"),
        Part::Head(head) => format!("h{}", head.status),
        Part::Body(bytes) => format!("b{}", bytes.len()),
        Part::End => "e".to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn check(wire: &str, kinds: &[RequestKind], parts: &str, end: EndOfStream) {
    let outcome = read_as(wire.as_bytes(), kinds, &ResponseLimits::default());
    assert_eq!((story(&outcome).as_str(), outcome.end), (parts, Ok(end)), "{wire}");
}

/// ab waits for the end of the connection behind such replies.
#[test]
fn replies_without_a_body_leave_the_next_one_aligned() {
    let check = |first: &str| {
        let wire = format!("{first}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        check(
            &wire,
            &[RequestKind::Other],
            &format!("h{} e h200 b2 e", &first[9..12]),
            EndOfStream::Idle,
        );
    };
    check("HTTP/1.1 204 No Content\r\n\r\n");
    check("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n");
    check("HTTP/1.1 304 Not Modified\r\n\r\n");
    check("HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n");
    check("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    check("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n\r\n");
}

#[test]
fn a_reply_is_read_by_the_kind_of_its_own_request() {
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    let kinds = [RequestKind::Other, RequestKind::Head, RequestKind::Other];
    let wire = format!("{reply}ab{reply}{reply}cd");
    check(&wire, &kinds, "h200 b2 e h200 e h200 b2 e", EndOfStream::Idle);
}

#[test]
fn interim_replies_come_before_the_final_one() {
    let wire = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\
                Content-Length: 7\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    check(wire, &[RequestKind::Other], "i100 i103 h200 b2 e", EndOfStream::Idle);
}

/// wrk#462, wrk#118: such a reply was a read error.
#[test]
fn a_body_that_ends_with_the_connection_is_complete() {
    let check = |wire: &str, parts| {
        check(wire, &[RequestKind::Other], parts, EndOfStream::Complete);
    };
    check("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", "h200 b5");
    check("HTTP/1.1 200 OK\r\nConnection: Close\r\n\r\n", "h200");
    check("HTTP/1.0 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "h200 b19");
}

#[test]
fn a_reply_that_is_cut_is_truncated() {
    let check = |wire: &str, parts| {
        check(wire, &[RequestKind::Other], parts, EndOfStream::Truncated);
    };
    check("H", "");
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "");
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "h200");
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "h200 b4");
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "h200");
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "h200 b5");
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "h200");
}

#[test]
fn between_two_replies_nothing_is_cut() {
    let check = |wire: &str, parts| check(wire, &[RequestKind::Other], parts, EndOfStream::Idle);
    check("", "");
    check("\r\n\n\r", "");
    check("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1\r\n", "h200 b1 e");
}

#[test]
fn a_failed_reader_starts_over_with_the_next_connection() {
    let (mut cache, limits) = (HeadCache::new(), ResponseLimits::default());
    let mut reader = ResponseReader::new();
    let mut read = |reader: &mut ResponseReader, wire: &[u8]| {
        reader.read(&mut &*wire, RequestKind::Other, &mut cache, &limits).map(|part| part.is_some())
    };
    assert_eq!(read(&mut reader, b"garbage"), Err(FramingError::NotHttp));
    assert_eq!(reader.end(), EndOfStream::Truncated);
    assert_eq!(read(&mut reader, b"HTTP/1.1 200 O"), Ok(false));
    assert!(!reader.is_idle());
    reader.reset();
    assert!(reader.is_idle());
    assert_eq!(read(&mut reader, b"HTTP/1.1 200 OK\r\n\r\n"), Ok(true));
    assert!(!reader.is_idle());
}

/// An end that is still to be said does not wait for more bytes.
#[test]
fn the_end_comes_with_the_last_byte() {
    let (mut cache, limits) = (HeadCache::new(), ResponseLimits::default());
    let mut reader = ResponseReader::new();
    let mut input = &b"HTTP/1.1 204 No Content\r\n\r\n"[..];
    let mut read =
        |input: &mut &'static [u8]| reader.read(input, RequestKind::Other, &mut cache, &limits);
    assert!(matches!(read(&mut input), Ok(Some(ResponsePart::Head(_)))));
    assert!(input.is_empty());
    assert_eq!(read(&mut input), Ok(Some(ResponsePart::End)));
    assert_eq!(read(&mut input), Ok(None));
}

#[test]
fn a_reader_is_small() {
    assert!(size_of::<ResponseReader>() <= 48);
    assert!(size_of::<Result<Option<ResponsePart<'_>>, FramingError>>() <= 40);
}
