//! Where requests end: by RFC 9112, read leniently.

use std::collections::VecDeque;

use super::record::RequestContent;

/// Longest head, and longest line of a chunked body.
const HEAD_BYTES_MAX: usize = 256 * 1024;
/// Longest body.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A whole request that nobody has taken yet.
#[derive(Debug)]
pub(super) struct ReadRequest {
    /// When its last byte had come, in ns of the clock.
    pub(super) read_at: u64,
    /// Its bytes, if they are kept.
    pub(super) content: Option<Box<RequestContent>>,
}

/// Cuts what comes on a connection into requests.
#[derive(Debug, Default)]
pub(super) struct RequestQueue {
    keeps_content: bool,
    /// What came and is no whole request yet.
    partial: Vec<u8>,
    whole: VecDeque<ReadRequest>,
    /// What came behind the whole ones is no request.
    malformed: Option<&'static str>,
}

impl RequestQueue {
    pub(super) fn new(keeps_content: bool) -> Self {
        Self { keeps_content, ..Self::default() }
    }

    /// Takes in what came at `read_at`.
    pub(super) fn push(&mut self, bytes: &[u8], read_at: u64) {
        self.partial.extend_from_slice(bytes);
        let mut start = 0;
        while self.malformed.is_none() {
            let rest = self.partial.get(start..).unwrap_or_default();
            match measure(rest) {
                Ok(Some(extent)) => {
                    start += extent.total_bytes;
                    let content = self.keeps_content.then(|| Box::new(extent.content(rest)));
                    self.whole.push_back(ReadRequest { read_at, content });
                }
                Ok(None) => break,
                Err(reason) => self.malformed = Some(reason),
            }
        }
        self.partial.drain(..start);
    }

    /// The oldest whole request; none if there is none yet.
    pub(super) fn take(&mut self) -> Result<Option<ReadRequest>, &'static str> {
        match (self.whole.pop_front(), self.malformed) {
            (None, Some(reason)) => Err(reason),
            (request, _) => Ok(request),
        }
    }
}

/// How far a request reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    head_bytes: usize,
    total_bytes: usize,
    is_chunked: bool,
}

impl Extent {
    /// The bytes of a request that `bytes` begins with.
    fn content(self, bytes: &[u8]) -> RequestContent {
        let head = bytes.get(..self.head_bytes).unwrap_or_default().to_vec();
        let body = bytes.get(self.head_bytes..self.total_bytes).unwrap_or_default();
        let body = if self.is_chunked { join_chunks(body) } else { body.to_vec() };
        RequestContent { head, body }
    }
}

/// Measures the request that `bytes` begins with; none while it is incomplete.
fn measure(bytes: &[u8]) -> Result<Option<Extent>, &'static str> {
    let Some(head_bytes) = find(bytes, b"\r\n\r\n").map(|at| at + 4) else {
        let is_long = bytes.len() > HEAD_BYTES_MAX;
        return if is_long { Err("the head is too long") } else { Ok(None) };
    };
    let (head, rest) = bytes.split_at_checked(head_bytes).unwrap_or_default();
    let mut length = 0;
    let mut is_chunked = false;
    for line in head.split(|byte| *byte == b'\n').skip(1) {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let (Some(name), Some(value)) = (parts.next(), parts.next()) else { continue };
        if name.eq_ignore_ascii_case(b"content-length") {
            length = parse_size(value, 10)?;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            // RFC 9112 §6.3: in a request, chunked is the last coding or there is no body.
            is_chunked = value.trim_ascii().to_ascii_lowercase().ends_with(b"chunked");
        }
    }
    let body_bytes = if is_chunked { chunked_bytes(rest)? } else { Some(length) };
    let total_bytes = body_bytes.map(|body_bytes| head_bytes + body_bytes);
    let is_whole = |total_bytes: &usize| *total_bytes <= bytes.len();
    Ok(total_bytes.filter(is_whole).map(|total_bytes| Extent {
        head_bytes,
        total_bytes,
        is_chunked,
    }))
}

/// The length of a chunked body with its trailers; none while it is incomplete.
fn chunked_bytes(body: &[u8]) -> Result<Option<usize>, &'static str> {
    let mut at = 0;
    loop {
        let rest = body.get(at..).unwrap_or_default();
        let Some((line, size)) = chunk_line(rest)? else { return Ok(None) };
        at += line;
        if size == 0 {
            return trailer_bytes(body, at);
        }
        at += size + 2;
        if at > BODY_BYTES_MAX {
            return Err("the body is too long");
        }
    }
}

/// From the last chunk's line, which ends at `at`, through the blank line.
fn trailer_bytes(body: &[u8], mut at: usize) -> Result<Option<usize>, &'static str> {
    loop {
        let rest = body.get(at..).unwrap_or_default();
        match find(rest, b"\r\n") {
            Some(0) => return Ok(Some(at + 2)),
            Some(line) => at += line + 2,
            None if rest.len() > HEAD_BYTES_MAX => return Err("a trailer is too long"),
            None => return Ok(None),
        }
    }
}

/// The length of the line that begins a chunk, and the chunk's size.
fn chunk_line(bytes: &[u8]) -> Result<Option<(usize, usize)>, &'static str> {
    let Some(end) = find(bytes, b"\r\n") else {
        let is_long = bytes.len() > HEAD_BYTES_MAX;
        return if is_long { Err("a chunk's line is too long") } else { Ok(None) };
    };
    let line = bytes.get(..end).unwrap_or_default();
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
    Ok(Some((end + 2, parse_size(digits, 16)?)))
}

/// The data of a chunked body that was measured.
fn join_chunks(mut body: &[u8]) -> Vec<u8> {
    let mut joined = Vec::new();
    while let Ok(Some((line, size @ 1..))) = chunk_line(body) {
        joined.extend_from_slice(body.get(line..line + size).unwrap_or_default());
        body = body.get(line + size + 2..).unwrap_or_default();
    }
    joined
}

fn parse_size(text: &[u8], radix: u32) -> Result<usize, &'static str> {
    let text = std::str::from_utf8(text).unwrap_or_default().trim();
    match usize::from_str_radix(text, radix) {
        Ok(size) if size <= BODY_BYTES_MAX && !text.starts_with('+') => Ok(size),
        Ok(_) => Err("the body is too long"),
        Err(_) => Err("a length is not a number"),
    }
}

fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    bytes.windows(mark.len()).position(|window| window == mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pushes `wire` in portions of every size and takes the bodies out.
    fn check(wire: &str, expected: Result<&[&str], &str>) {
        for portion in 1..=wire.len() {
            let mut queue = RequestQueue::new(true);
            for bytes in wire.as_bytes().chunks(portion) {
                queue.push(bytes, 0);
            }
            let mut bodies = Vec::new();
            let outcome = loop {
                match queue.take() {
                    Ok(Some(request)) => bodies.push(request.content.unwrap().body),
                    Ok(None) => break Ok(bodies),
                    Err(reason) => break Err(reason),
                }
            };
            let expected =
                expected.map(|bodies| bodies.iter().map(|b| b.as_bytes().to_vec()).collect());
            assert_eq!(outcome, expected, "{wire:?} in portions of {portion}");
        }
    }

    #[test]
    fn requests_end_by_length_by_chunks_or_with_their_head() {
        let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        let post = "POST / HTTP/1.1\r\ncontent-length:2\r\n\r\nab";
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n\
            2;x=\"y\"\r\nab\r\n1\r\nc\r\n0\r\nTrailer: t\r\n\r\n";
        check(get, Ok(&[""]));
        check(post, Ok(&["ab"]));
        check(chunked, Ok(&["abc"]));
        check(&format!("{get}{chunked}{post}{get}"), Ok(&["", "abc", "ab", ""]));
        check("GET / HTTP/1.1\r\nHost: x\r\n", Ok(&[]));
        check("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", Ok(&[]));
    }

    #[test]
    fn a_length_that_is_none_is_malformed() {
        check("POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", Err("a length is not a number"));
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n";
        check(chunked, Err("a length is not a number"));
    }

    #[test]
    fn requests_before_a_malformed_one_are_read() {
        let mut queue = RequestQueue::new(false);
        queue.push(b"GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: -\r\n\r\n", 7);
        assert_eq!(queue.take().unwrap().unwrap().read_at, 7);
        assert!(queue.take().is_err());
    }
}
