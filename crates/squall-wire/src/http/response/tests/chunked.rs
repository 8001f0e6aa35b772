//! Bodies in chunks (RFC 9112 §7.1).

use super::support::*;

const HEAD: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

fn check(body: &str, expected: &str) {
    let outcome = read(format!("{HEAD}{body}").as_bytes());
    assert!(outcome.is_orderly(), "{body:?}: {outcome:?}");
    assert_eq!(outcome.body(), expected.as_bytes(), "{body:?}");
    assert_eq!(outcome.parts.last(), Some(&Part::End));
}

fn check_error(body: &str, expected: FramingError) {
    let outcome = read(format!("{HEAD}{body}").as_bytes());
    assert_eq!(outcome.end, Err(expected), "{body:?}");
}

#[test]
fn chunks_are_put_together() {
    check("0\r\n\r\n", "");
    check("5\r\nhello\r\n0\r\n\r\n", "hello");
    check("1\r\nh\r\n3\r\nell\r\n1\r\no\r\n0\r\n\r\n", "hello");
    check("00a\r\n0123456789\r\n0A\r\nabcdefghij\r\n000\r\n\r\n", "0123456789abcdefghij");
    check("4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n");
    check("5\nhello\n0\n\n", "hello");
}

#[test]
fn extensions_and_trailers_are_skipped() {
    check("5;a\r\nhello\r\n0\r\n\r\n", "hello");
    check("5 ; a = \"b;\\\" 0\" ;c\t\r\nhello\r\n0;last\r\n\r\n", "hello");
    check("5  \r\nhello\r\n0 \r\n\r\n", "hello");
    check("5\r\nhello\r\n0\r\nTrailer: one\r\nX: two\r\n folded\r\n\r\n", "hello");
    check("5\r\nhello\r\n0\r\nTrailer: one\n\n", "hello");
}

#[test]
fn garbage_is_an_error_with_a_name() {
    check_error("\r\n", FramingError::ChunkSize);
    check_error("x\r\n", FramingError::ChunkSize);
    check_error(" 5\r\n", FramingError::ChunkSize);
    check_error("-5\r\n", FramingError::ChunkSize);
    check_error("0x5\r\n", FramingError::ChunkSize);
    check_error("5 5\r\n", FramingError::ChunkSize);
    check_error("5,\r\n", FramingError::ChunkSize);
    check_error("5\rhello", FramingError::ChunkSize);
    check_error("5;a\0\r\n", FramingError::ChunkSize);
    check_error("5;a\rb\n", FramingError::ChunkSize);
    check_error("5\r\nhello!\r\n", FramingError::ChunkEnd);
    check_error("5\r\nhello\r\r", FramingError::ChunkEnd);
    check_error("5\r\nhello0\r\n\r\n", FramingError::ChunkEnd);
    check_error("0\r\n\rx", FramingError::Trailer);
}

#[test]
fn a_size_beyond_64_bits_is_an_error() {
    check_error("10000000000000000\r\n", FramingError::ChunkSizeTooLarge);
    check_error("fffffffffffffffff\r\n", FramingError::ChunkSizeTooLarge);
    let largest = read(format!("{HEAD}ffffffffffffffff\r\nabc").as_bytes());
    assert_eq!(largest.end, Ok(EndOfStream::Truncated));
    assert_eq!(largest.body(), b"abc");
}

/// Netling#5: pipelined replies in chunks brought the client down.
#[test]
fn replies_in_chunks_can_be_pipelined() {
    let reply = format!("{HEAD}3;x=\"\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n");
    let outcome = read(reply.repeat(3).as_bytes());
    assert!(outcome.is_orderly());
    assert_eq!(outcome.body(), b"abcdeabcdeabcde");
    assert_eq!(outcome.parts.iter().filter(|part| **part == Part::End).count(), 3);
}
