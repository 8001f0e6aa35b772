//! What passes a limit, and what just meets it.

use super::support::*;

fn check(wire: &str, limits: ResponseLimits, over: ResponseLimits, expected: FramingError) {
    let kinds = [RequestKind::Other];
    let within = read_as(wire.as_bytes(), &kinds, &limits);
    assert!(within.is_orderly(), "{wire}: {within:?}");
    assert_eq!(read_as(wire.as_bytes(), &kinds, &over).end, Err(expected), "{wire}");
}

fn limits() -> ResponseLimits {
    ResponseLimits::default()
}

#[test]
fn the_length_of_a_head_is_limited() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    let head_bytes_max = head.len();
    check(
        &format!("\r\n{head}ok{head}ok"),
        ResponseLimits { head_bytes_max, ..limits() },
        ResponseLimits { head_bytes_max: head_bytes_max - 1, ..limits() },
        FramingError::HeadTooLong { head_bytes_max: head_bytes_max - 1 },
    );
}

#[test]
fn a_head_that_never_ends_is_not_held_for_ever() {
    let limits = ResponseLimits { head_bytes_max: 100, ..limits() };
    let wire = format!("HTTP/1.1 200 {}", "x".repeat(1000));
    let outcome = read_as(wire.as_bytes(), &[RequestKind::Other], &limits);
    assert_eq!(outcome.end, Err(FramingError::HeadTooLong { head_bytes_max: 100 }));
}

#[test]
fn an_error_within_the_limit_comes_before_the_limit() {
    let limits = ResponseLimits { head_bytes_max: 30, ..limits() };
    let check = |wire: &str, expected| {
        let outcome = read_as(wire.as_bytes(), &[RequestKind::Other], &limits);
        assert_eq!(outcome.end, Err(expected), "{wire}");
    };
    check("HTTP/1.1 200 OK\r\nbad\r\nX: 1234567890\r\n\r\n", FramingError::HeaderName);
    check(
        "HTTP/1.1 200 OK\r\nX: 1234567890\r\nbad\r\n\r\n",
        FramingError::HeadTooLong { head_bytes_max: 30 },
    );
}

#[test]
fn the_number_of_headers_is_limited() {
    for headers_max in [0, 1, 3, 64, 65, 100] {
        let headers: String = (0..headers_max).map(|number| format!("X{number}: y\r\n")).collect();
        let wire = format!("HTTP/1.1 204 No Content\r\n{headers}\r\n");
        let within = ResponseLimits { headers_max, ..limits() };
        let outcome = read_as(wire.as_bytes(), &[RequestKind::Other], &within);
        assert!(outcome.is_orderly(), "{headers_max}: {outcome:?}");
        let Some(headers_max) = headers_max.checked_sub(1) else {
            continue;
        };
        let over = ResponseLimits { headers_max, ..limits() };
        let outcome = read_as(wire.as_bytes(), &[RequestKind::Other], &over);
        assert_eq!(outcome.end, Err(FramingError::TooManyHeaders { headers_max }));
    }
}

#[test]
fn the_line_of_a_chunk_is_limited() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    check(
        &format!("{head}2;abcd\r\nok\r\n1;abcd\r\nk\r\n0;abcd\r\n\r\n"),
        ResponseLimits { chunk_line_bytes_max: 8, ..limits() },
        ResponseLimits { chunk_line_bytes_max: 7, ..limits() },
        FramingError::ChunkLineTooLong { chunk_line_bytes_max: 7 },
    );
}

#[test]
fn the_length_of_trailers_is_limited() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    check(
        &format!("{head}0\r\nA: b\r\nC: d\r\n\r\n"),
        ResponseLimits { trailer_bytes_max: 14, ..limits() },
        ResponseLimits { trailer_bytes_max: 13, ..limits() },
        FramingError::TrailersTooLong { trailer_bytes_max: 13 },
    );
}
