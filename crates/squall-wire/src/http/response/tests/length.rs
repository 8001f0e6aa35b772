//! Where a body ends: RFC 9112 §6.3, rule by rule.

use super::support::*;

fn check(head: &str, kind: RequestKind, expected: BodyFraming) {
    let wire = format!("{head}\r\n\r\n");
    let outcome = read_as(wire.as_bytes(), &[kind], &ResponseLimits::default());
    let head = outcome.head();
    assert_eq!(head.framing, expected, "{wire}");
    assert_eq!(usize::try_from(head.head_bytes).unwrap(), wire.len());
}

fn check_error(head: &str, expected: FramingError) {
    let outcome = read(format!("{head}\r\n\r\n").as_bytes());
    assert_eq!((outcome.parts, outcome.end), (Vec::new(), Err(expected)), "{head}");
}

#[test]
fn rule_1_some_replies_have_no_body_whatever_the_headers_say() {
    let check = |status: &str, kind| {
        for headers in [
            "",
            "\r\nContent-Length: 5",
            "\r\nContent-Length: 0",
            "\r\nContent-Length: x",
            "\r\nTransfer-Encoding: chunked",
            "\r\nTransfer-Encoding: gzip",
        ] {
            check(&format!("HTTP/1.1 {status}{headers}"), kind, BodyFraming::Empty);
        }
    };
    check("204 No Content", RequestKind::Other);
    check("304 Not Modified", RequestKind::Other);
    check("200 OK", RequestKind::Head);
    check("404 Not Found", RequestKind::Head);
    check("200 OK", RequestKind::Connect);
    check("299 Whatever", RequestKind::Connect);
}

#[test]
fn rule_2_a_refused_connect_has_a_body_like_any_reply() {
    let refused = "HTTP/1.1 407 No\r\nContent-Length: 5";
    check(refused, RequestKind::Connect, BodyFraming::Length(5));
}

#[test]
fn rule_3_a_transfer_coding_overrides_a_length() {
    for length in ["5", "x", "5, 6"] {
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nTransfer-Encoding: chunked");
        check(&head, RequestKind::Other, BodyFraming::Chunked);
    }
}

#[test]
fn rule_4_only_a_last_coding_of_chunked_gives_chunks() {
    let check = |headers: &str, expected| {
        check(&format!("HTTP/1.1 200 OK\r\n{headers}"), RequestKind::Other, expected);
    };
    check("Transfer-Encoding: chunked", BodyFraming::Chunked);
    check("transfer-encoding:CHUNKED", BodyFraming::Chunked);
    check("Transfer-Encoding: gzip, chunked", BodyFraming::Chunked);
    check("Transfer-Encoding: gzip;q=\"1\" ,\tchunked , ", BodyFraming::Chunked);
    check("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", BodyFraming::Chunked);
    check("Transfer-Encoding: chunked\r\nTransfer-Encoding: ,", BodyFraming::Chunked);
    check("Transfer-Encoding: gzip,\r\n chunked", BodyFraming::Chunked);
    check("Transfer-Encoding: gzip", BodyFraming::UntilClose);
    check("Transfer-Encoding: identity\r\nContent-Length: 5", BodyFraming::UntilClose);
    check("Transfer-Encoding: chunked, gzip", BodyFraming::UntilClose);
    check("Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip", BodyFraming::UntilClose);
    check("Transfer-Encoding: xchunked", BodyFraming::UntilClose);
    check("Transfer-Encoding:", BodyFraming::UntilClose);
}

#[test]
fn rule_5_lengths_that_are_malformed_or_differ_are_errors() {
    let check = |headers: &str, expected| {
        check_error(&format!("HTTP/1.1 200 OK\r\n{headers}"), expected);
    };
    check("Content-Length: x", FramingError::ContentLength);
    check("Content-Length:", FramingError::ContentLength);
    check("Content-Length: +5", FramingError::ContentLength);
    check("Content-Length: -5", FramingError::ContentLength);
    check("Content-Length: 5 5", FramingError::ContentLength);
    check("Content-Length: 5,", FramingError::ContentLength);
    check("Content-Length: 0x5", FramingError::ContentLength);
    check("Content-Length: 1\r\n 2", FramingError::ContentLength);
    check("Content-Length: 18446744073709551616", FramingError::ContentLength);
    check("Content-Length: 5\r\nContent-Length: x", FramingError::ContentLength);
    check("Content-Length: x\r\nContent-Length: 5", FramingError::ContentLength);
    check("Content-Length: 5, 6", FramingError::ContentLengthsDiffer);
    check("Content-Length: 5\r\nContent-Length: 6", FramingError::ContentLengthsDiffer);
    check("Content-Length: 5, 6, 5", FramingError::ContentLengthsDiffer);
}

/// ab reads `Content-Length:12` as 2.
#[test]
fn rule_6_a_length_is_read_however_it_is_spaced() {
    let check = |headers: &str, expected| {
        let expected = BodyFraming::Length(expected);
        check(&format!("HTTP/1.1 200 OK\r\n{headers}"), RequestKind::Other, expected);
    };
    check("Content-Length: 12", 12);
    check("content-length:12", 12);
    check("CONTENT-LENGTH:\t 12 \t", 12);
    check("Content-Length : 12", 12);
    check("Content-Length:\r\n\t12", 12);
    check("Content-Length: 12\r\n ", 12);
    check("Content-Length: 012", 12);
    check("Content-Length: 12, 12", 12);
    check("Content-Length: 12\r\nX: y\r\ncontent-length: 0012", 12);
    check("Content-Length: 0", 0);
    check("Content-Length: 18446744073709551615", u64::MAX);
    check("X-Content-Length: 5\r\nContent-Length: 12", 12);
}

#[test]
fn rule_8_without_a_length_a_body_ends_with_the_connection() {
    check("HTTP/1.1 200 OK", RequestKind::Other, BodyFraming::UntilClose);
    check("HTTP/1.0 500 No", RequestKind::Other, BodyFraming::UntilClose);
}

#[test]
fn switching_protocols_ends_http() {
    let outcome = read(b"HTTP/1.1 101 Switching\r\nContent-Length: 0\r\n\r\n\x81\x05hello");
    assert_eq!(outcome.head().framing, BodyFraming::UntilClose);
    assert!(!outcome.head().keep_alive);
    assert_eq!(outcome.body(), b"\x81\x05hello");
}
