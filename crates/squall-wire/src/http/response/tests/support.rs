//! How a reply is read in tables: whole, in portions, and what came of it.

pub(super) use super::super::*;

/// A part that owns its bytes. Pieces of a body that follow each other are one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Interim(u16),
    Head(ResponseHead),
    Body(Vec<u8>),
    End,
}

/// All that a connection led to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) parts: Vec<Part>,
    pub(super) end: Result<EndOfStream, FramingError>,
}

impl Outcome {
    /// The only head.
    pub(super) fn head(&self) -> ResponseHead {
        let mut heads = self.parts.iter().filter_map(|part| match part {
            Part::Head(head) => Some(*head),
            _ => None,
        });
        let head = heads.next().unwrap();
        assert_eq!(heads.next(), None);
        head
    }

    pub(super) fn body(&self) -> Vec<u8> {
        let bodies = self.parts.iter().map(|part| match part {
            Part::Body(bytes) => bytes.as_slice(),
            _ => b"",
        });
        bodies.collect::<Vec<_>>().concat()
    }

    /// Whether nothing was cut and no body waits for the connection's end.
    pub(super) fn is_orderly(&self) -> bool {
        self.end == Ok(EndOfStream::Idle)
    }
}

/// Reads portions as replies to requests of these kinds, the last of which goes on for ever.
pub(super) fn read_portions<'i>(
    portions: impl Iterator<Item = &'i [u8]>,
    kinds: &[RequestKind],
    limits: &ResponseLimits,
) -> Outcome {
    let (mut reader, mut cache) = (ResponseReader::new(), HeadCache::new());
    let mut parts = Vec::new();
    for mut portion in portions {
        loop {
            let answered = parts.iter().filter(|part| **part == Part::End).count();
            let kind = kinds[answered.min(kinds.len() - 1)];
            match reader.read(&mut portion, kind, &mut cache, limits) {
                Ok(Some(part)) => push(&mut parts, part),
                Ok(None) => break,
                Err(error) => {
                    let again = reader.read(&mut portion, kind, &mut cache, limits);
                    assert_eq!(again, Err(error), "a failed reader stays failed");
                    return Outcome { parts, end: Err(error) };
                }
            }
        }
        assert!(portion.is_empty());
    }
    Outcome { parts, end: Ok(reader.end()) }
}

pub(super) fn push(parts: &mut Vec<Part>, part: ResponsePart<'_>) {
    match (part, parts.last_mut()) {
        (ResponsePart::Body(bytes), Some(Part::Body(before))) => before.extend_from_slice(bytes),
        (ResponsePart::Body(bytes), _) => {
            assert!(!bytes.is_empty());
            parts.push(Part::Body(bytes.to_vec()));
        }
        (ResponsePart::Interim(status), _) => parts.push(Part::Interim(status)),
        (ResponsePart::Head(head), _) => parts.push(Part::Head(head)),
        (ResponsePart::End, _) => parts.push(Part::End),
    }
}

/// Reads `wire` at once, byte by byte and cut in two at every offset, and gives what all agree on.
pub(super) fn read_as(wire: &[u8], kinds: &[RequestKind], limits: &ResponseLimits) -> Outcome {
    let whole = read_portions([wire].into_iter(), kinds, limits);
    let bytes = read_portions(wire.chunks(1), kinds, limits);
    assert_eq!(whole, bytes, "byte by byte: {}", wire.escape_ascii());
    for cut in 0..wire.len() {
        let (first, second) = wire.split_at(cut);
        let halves = read_portions([first, second].into_iter(), kinds, limits);
        assert_eq!(whole, halves, "cut at {cut}: {}", wire.escape_ascii());
    }
    whole
}

pub(super) fn read(wire: &[u8]) -> Outcome {
    read_as(wire, &[RequestKind::Other], &ResponseLimits::default())
}
