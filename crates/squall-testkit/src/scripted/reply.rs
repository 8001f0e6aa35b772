//! Bytes for scripts to send.

use std::fmt::Display;

/// A whole reply with a `Content-Length`.
#[must_use]
pub fn reply(status: u16, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!("{}Content-Length: {length}\r\n\r\n", status_line(status));
    [head.as_bytes(), body].concat()
}

/// A whole reply in chunks, one for each of `parts` that is not empty.
#[must_use]
pub fn chunked<B: AsRef<[u8]>>(status: u16, parts: &[B]) -> Vec<u8> {
    let mut bytes = status_line(status).into_bytes();
    bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
    for part in parts.iter().filter(|part| !part.as_ref().is_empty()) {
        bytes.extend(chunk(part));
    }
    bytes.extend(chunk(""));
    bytes
}

/// One chunk of a chunked body; an empty one ends the body.
#[must_use]
pub fn chunk(data: impl AsRef<[u8]>) -> Vec<u8> {
    let data = data.as_ref();
    [format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat()
}

/// The head of an event stream in chunks: [`sse_event`] may follow.
#[must_use]
pub fn sse_head() -> Vec<u8> {
    format!("{EVENT_STREAM}Transfer-Encoding: chunked\r\n\r\n").into_bytes()
}

/// One event as one chunk.
#[must_use]
pub fn sse_event(id: impl Display, data: &str) -> Vec<u8> {
    chunk(sse_event_plain(id, data))
}

/// The head of an event stream that ends with its connection: [`sse_event_plain`] may follow.
#[must_use]
pub fn sse_head_plain() -> Vec<u8> {
    format!("{EVENT_STREAM}Connection: close\r\n\r\n").into_bytes()
}

/// One event, with a `data` line for each line of `data`.
#[must_use]
pub fn sse_event_plain(id: impl Display, data: &str) -> Vec<u8> {
    let mut event = format!("id: {id}\n");
    for line in data.split('\n') {
        event.push_str(&format!("data: {line}\n"));
    }
    event.push('\n');
    event.into_bytes()
}

const EVENT_STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n";

fn status_line(status: u16) -> String {
    let reason = match status {
        200 => "OK",
        204 => "No Content",
        404 => "Not Found",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Other",
    };
    format!("HTTP/1.1 {status} {reason}\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(String::from_utf8_lossy(bytes), expected);
    }

    #[test]
    fn replies_say_where_they_end() {
        check(&reply(200, "hello"), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        check(
            &chunked(503, &["0123456789abcdef", "", "x"]),
            "HTTP/1.1 503 Service Unavailable\r\nTransfer-Encoding: chunked\r\n\r\n\
             10\r\n0123456789abcdef\r\n1\r\nx\r\n0\r\n\r\n",
        );
    }

    #[test]
    fn an_event_has_a_data_line_for_each_line() {
        check(&sse_event_plain(7, "a\nb"), "id: 7\ndata: a\ndata: b\n\n");
        check(&sse_event("x", "a"), "f\r\nid: x\ndata: a\n\n\r\n");
    }
}
