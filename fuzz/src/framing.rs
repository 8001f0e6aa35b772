//! Reading replies in portions, with nothing borrowed.

use squall_wire::http::response::{
    EndOfStream, FramingError, HeadCache, RequestKind, ResponseHead, ResponseLimits, ResponsePart,
    ResponseReader,
};

use crate::Portions;

/// A part of a reply that owns its bytes. Pieces of a body that follow each other are one.
#[derive(Debug, PartialEq)]
pub enum Part {
    Interim(u16),
    Head(ResponseHead),
    Body(Vec<u8>),
    End,
}

/// All that a connection led to.
#[derive(Debug, PartialEq)]
pub struct Framed {
    /// The parts before the end or the error.
    pub parts: Vec<Part>,
    /// Why reading stopped early, or what the end of the bytes meant.
    pub end: Result<EndOfStream, FramingError>,
}

/// Reads `wire` in portions of the lengths in `cuts`, over and over, as replies to requests of
/// the kinds in `kinds`, over and over. Unless `is_cached`, every head is parsed.
pub fn read(
    wire: &[u8],
    cuts: &[u8],
    kinds: &[RequestKind],
    limits: &ResponseLimits,
    is_cached: bool,
) -> Framed {
    let (mut reader, mut cache) = (ResponseReader::new(), HeadCache::new());
    let mut parts = Vec::new();
    let mut kinds = kinds.iter().copied().cycle();
    let mut kind = kinds.next().unwrap_or_default();
    for mut portion in Portions::new(wire, cuts) {
        loop {
            if !is_cached {
                cache = HeadCache::new();
            }
            match reader.read(&mut portion, kind, &mut cache, limits) {
                Ok(Some(part)) => {
                    if part == ResponsePart::End {
                        kind = kinds.next().unwrap_or_default();
                    }
                    push(&mut parts, part);
                }
                Ok(None) => break,
                Err(error) => return Framed { parts, end: Err(error) },
            }
        }
        assert!(portion.is_empty());
    }
    Framed { parts, end: Ok(reader.end()) }
}

fn push(parts: &mut Vec<Part>, part: ResponsePart<'_>) {
    match (part, parts.last_mut()) {
        (ResponsePart::Body(bytes), last) => {
            assert!(!bytes.is_empty());
            match last {
                Some(Part::Body(before)) => before.extend_from_slice(bytes),
                _ => parts.push(Part::Body(bytes.to_vec())),
            }
        }
        (ResponsePart::Interim(status), _) => parts.push(Part::Interim(status)),
        (ResponsePart::Head(head), _) => parts.push(Part::Head(head)),
        (ResponsePart::End, _) => parts.push(Part::End),
    }
}
