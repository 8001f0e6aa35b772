//! Framing held against scripts of replies, and against bytes that are nearly replies.

use proptest::collection::vec;
use proptest::prelude::*;
use squall_wire::http::response::{
    BodyFraming, EndOfStream, FramingError, HeadCache, RequestKind, ResponseHead, ResponseLimits,
    ResponsePart, ResponseReader,
};

/// A part that owns its bytes. Pieces of a body that follow each other are one.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Interim(u16),
    Head(ResponseHead),
    Body(Vec<u8>),
    End,
}

/// All that a connection led to.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    parts: Vec<Part>,
    end: Result<EndOfStream, FramingError>,
}

/// Reads `wire` in portions of the lengths in `portion_lens`, over and over, as replies to
/// requests of the kinds in `kinds`, over and over.
fn read(wire: &[u8], portion_lens: &[usize], kinds: &[RequestKind], caches: bool) -> Outcome {
    let limits = ResponseLimits { head_bytes_max: 200, headers_max: 6, ..Default::default() };
    let (mut reader, mut cache) = (ResponseReader::new(), HeadCache::new());
    let (mut parts, mut answered) = (Vec::new(), 0);
    let mut rest = wire;
    let mut lens = portion_lens.iter().cycle();
    while !rest.is_empty() {
        let len = lens.next().map_or(rest.len(), |len| rest.len().min(*len));
        let (mut portion, behind) = rest.split_at(len);
        rest = behind;
        loop {
            if !caches {
                cache = HeadCache::new();
            }
            let kind = kinds[answered % kinds.len()];
            match reader.read(&mut portion, kind, &mut cache, &limits) {
                Ok(Some(part)) => push(&mut parts, part),
                Ok(None) => break,
                Err(error) => return Outcome { parts, end: Err(error) },
            }
            answered = parts.iter().filter(|part| **part == Part::End).count();
        }
    }
    Outcome { parts, end: Ok(reader.end()) }
}

fn push(parts: &mut Vec<Part>, part: ResponsePart<'_>) {
    match (part, parts.last_mut()) {
        (ResponsePart::Body(bytes), Some(Part::Body(before))) => before.extend_from_slice(bytes),
        (ResponsePart::Body(bytes), _) => parts.push(Part::Body(bytes.to_vec())),
        (ResponsePart::Interim(status), _) => parts.push(Part::Interim(status)),
        (ResponsePart::Head(head), _) => parts.push(Part::Head(head)),
        (ResponsePart::End, _) => parts.push(Part::End),
    }
}

/// A reply to be sent, by what it says rather than by its bytes.
#[derive(Clone, Debug)]
struct Reply {
    kind: RequestKind,
    interim: bool,
    status: u16,
    date: u8,
    body: ReplyBody,
}

#[derive(Clone, Debug)]
enum ReplyBody {
    Length(Vec<u8>),
    Chunks(Vec<Vec<u8>>),
}

impl Reply {
    fn has_body(&self) -> bool {
        self.kind != RequestKind::Head && !matches!(self.status, 204 | 304)
    }

    fn write(&self, wire: &mut Vec<u8>) {
        if self.interim {
            wire.extend_from_slice(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
        }
        let Self { status, date, .. } = self;
        let head = format!(
            "HTTP/1.1 {status} Why\r\nDate: Sun, 06 Nov 1994 08:49:{date:02} GMT\r\nServer:x\n"
        );
        wire.extend_from_slice(head.as_bytes());
        match &self.body {
            ReplyBody::Length(body) => {
                wire.extend_from_slice(format!("content-length:{}\r\n\r\n", body.len()).as_bytes());
                if self.has_body() {
                    wire.extend_from_slice(body);
                }
            }
            ReplyBody::Chunks(chunks) => {
                wire.extend_from_slice(b"Transfer-Encoding:\r\n gzip, chunked\r\n\r\n");
                if self.has_body() {
                    write_chunks(wire, chunks);
                }
            }
        }
    }

    /// What a reader must make of it. The length of the head is not foretold.
    fn expect(&self, parts: &mut Vec<Part>) {
        if self.interim {
            parts.push(Part::Interim(103));
        }
        let (framing, body) = match &self.body {
            ReplyBody::Length(body) => {
                (BodyFraming::Length(body.len().try_into().unwrap()), body.clone())
            }
            ReplyBody::Chunks(chunks) => (BodyFraming::Chunked, chunks.concat()),
        };
        parts.push(Part::Head(ResponseHead {
            status: self.status,
            keep_alive: true,
            framing: if self.has_body() { framing } else { BodyFraming::Empty },
            is_event_stream: false,
            head_bytes: 0,
        }));
        if self.has_body() && !body.is_empty() {
            parts.push(Part::Body(body));
        }
        parts.push(Part::End);
    }
}

fn write_chunks(wire: &mut Vec<u8>, chunks: &[Vec<u8>]) {
    for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
        wire.extend_from_slice(format!("0{:X} ; a=\"\\\";\"\r\n", chunk.len()).as_bytes());
        wire.extend_from_slice(chunk);
        wire.extend_from_slice(b"\r\n");
    }
    wire.extend_from_slice(b"0\r\nTrailer: x\r\n\r\n");
}

fn without_head_bytes(mut outcome: Outcome) -> Outcome {
    for part in &mut outcome.parts {
        if let Part::Head(head) = part {
            head.head_bytes = 0;
        }
    }
    outcome
}

fn any_reply() -> impl Strategy<Value = Reply> {
    let kind = prop_oneof![4 => Just(RequestKind::Other), 1 => Just(RequestKind::Head)];
    let status = prop_oneof![4 => Just(200), 1 => Just(204), 1 => Just(304), 1 => Just(503)];
    let body = prop_oneof![
        vec(any::<u8>(), 0..40).prop_map(ReplyBody::Length),
        vec(vec(any::<u8>(), 0..20), 0..4).prop_map(ReplyBody::Chunks),
    ];
    (kind, prop::bool::weighted(0.2), status, 0..60_u8, body)
        .prop_map(|(kind, interim, status, date, body)| Reply { kind, interim, status, date, body })
}

/// Bytes that are nearly replies, with repetitions for the cache to find.
fn any_wire() -> impl Strategy<Value = Vec<u8>> {
    let pieces: [&[u8]; 26] = [
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 1\r\n\r\n",
        b"HTTP/1.1 200 OK\nDate: Sun, 06 Nov 1994 08:49:38 GMT\r\nContent-Length: 1\r\n\r\n",
        b"HTTP/1.1 200 OK\nDate: Sun\r\n 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 1\r\n\r\n",
        b"HTTP/1.1 200 OK\nDate: Sun, 06 Nov 1994 08:49:3\x007 GM\r\nContent-Length: 1\r\n\r\n",
        b"HTTP/1.1 204 None\r\n\r\n",
        b"HTTP/1.0 100 Go on\n\n",
        b"HTTP/1.1 101 Switch\n\n",
        b"HTTP/1.",
        b"Connection: close\r\n",
        b"Content-Length: 3\r\n",
        b"Content-Length: 3, 4\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n",
        b"3;x\r\nabc\r\n0\r\n\r\n",
        b"5\r\n",
        b"\r\n",
        b"\n",
        b"\r",
        b" ",
        b":",
        b"0",
        b"\0",
        b"X: y\n",
        b"X-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        b"\r\n\r\nHTTP/1.1 304 Same\r\n\r\n",
        b"aa",
    ];
    vec(prop::sample::select(pieces.to_vec()), 0..30).prop_map(|pieces| pieces.concat())
}

fn any_kinds() -> impl Strategy<Value = Vec<RequestKind>> {
    let kinds = vec![RequestKind::Other, RequestKind::Head, RequestKind::Connect];
    vec(prop::sample::select(kinds), 1..4)
}

proptest! {
    /// Pipelined replies of every framing come out as they were meant, cut in two at every
    /// offset and in portions of any length, and leave nothing behind.
    #[test]
    fn replies_come_out_as_they_were_meant(
        replies in vec(any_reply(), 1..6),
        lens in vec(1..50_usize, 1..9),
    ) {
        let (mut wire, mut parts) = (Vec::new(), Vec::new());
        for reply in &replies {
            reply.write(&mut wire);
            reply.expect(&mut parts);
        }
        let kinds: Vec<_> = replies.iter().map(|reply| reply.kind).collect();
        let expected = Outcome { parts, end: Ok(EndOfStream::Idle) };
        prop_assert_eq!(&without_head_bytes(read(&wire, &lens, &kinds, true)), &expected);
        for cut in 1..wire.len() {
            let halves = [cut, wire.len() - cut];
            prop_assert_eq!(&without_head_bytes(read(&wire, &halves, &kinds, true)), &expected);
        }
    }

    /// A body that ends with the connection holds every byte behind the head.
    #[test]
    fn a_body_until_the_end_is_all_that_follows(
        body in vec(any::<u8>(), 0..100),
        lens in vec(1..20_usize, 1..9),
    ) {
        let wire = [b"HTTP/1.0 200 OK\r\nServer: x\r\n\r\n", body.as_slice()].concat();
        let outcome = read(&wire, &lens, &[RequestKind::Other], true);
        prop_assert_eq!(outcome.end, Ok(EndOfStream::Complete));
        let expected = (!body.is_empty()).then_some(Part::Body(body));
        prop_assert_eq!(outcome.parts.get(1), expected.as_ref());
    }

    /// TCP may cut the bytes anywhere; parts, errors and the end must come out the same.
    #[test]
    fn framing_ignores_portion_borders(
        wire in any_wire(),
        lens in vec(1..40_usize, 1..9),
        kinds in any_kinds(),
    ) {
        let whole = read(&wire, &[], &kinds, true);
        prop_assert_eq!(&read(&wire, &lens, &kinds, true), &whole);
        prop_assert_eq!(&read(&wire, &[1], &kinds, true), &whole);
    }

    /// The cache changes nothing but the time it takes.
    #[test]
    fn a_cache_changes_no_part(
        wire in any_wire(),
        lens in vec(1..200_usize, 0..9),
        kinds in any_kinds(),
    ) {
        let cached = read(&wire, &lens, &kinds, true);
        prop_assert_eq!(cached, read(&wire, &lens, &kinds, false));
    }
}
