//! Heads seen before, with what they mean.

use std::ops::Range;

use super::framing::is_value_byte;
use super::head::ParsedHead;
use super::limits::ResponseLimits;
use super::part::{RequestKind, ResponseHead};

/// Heads that are kept: enough for a server that gives a few replies in turn.
const SHAPES: usize = 4;

/// Longest head that is kept, in bytes. Comparing longer ones saves little.
const SHAPE_BYTES_MAX: usize = 16 * 1024;

/// The heads seen last. One serves all connections of a thread.
///
/// A server under load repeats its heads; only the date changes. A head that equals an earlier
/// one byte by byte, apart from its date, has the same meaning and is not parsed again.
#[derive(Debug, Default)]
pub struct HeadCache {
    shapes: Vec<Shape>,
    /// The shape that matched last, looked at first.
    hit: usize,
    /// The shape to give way next.
    oldest: usize,
}

/// A head and its meaning, split where its date is.
#[derive(Debug)]
struct Shape {
    before_date: Vec<u8>,
    /// Bytes between the two that may be any characters of a header's value.
    date_bytes: usize,
    behind_date: Vec<u8>,
    request: RequestKind,
    headers: usize,
    head: ResponseHead,
}

impl HeadCache {
    /// A cache that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The meaning of the head at the front of `input`, and its length in bytes.
    pub(super) fn find(
        &mut self,
        input: &[u8],
        request: RequestKind,
        limits: &ResponseLimits,
    ) -> Option<(ResponseHead, usize)> {
        let is_match = |shape: &Shape| shape.is_match(input, request, limits);
        let found = match self.shapes.get(self.hit) {
            Some(shape) if is_match(shape) => shape,
            _ => {
                self.hit = self.shapes.iter().position(is_match)?;
                self.shapes.get(self.hit)?
            }
        };
        Some((found.head, found.len()))
    }

    /// Keeps a head that `find` did not know.
    pub(super) fn keep(&mut self, bytes: &[u8], request: RequestKind, parsed: &ParsedHead) {
        let Range { start, end } = parsed.date;
        let (Some(before_date), Some(behind_date)) = (bytes.get(..start), bytes.get(end..)) else {
            return;
        };
        if bytes.len() > SHAPE_BYTES_MAX {
            return;
        }
        if self.shapes.len() <= self.oldest {
            self.shapes.push(Shape::new(request, parsed));
        }
        if let Some(shape) = self.shapes.get_mut(self.oldest) {
            shape.replace(before_date, behind_date, Shape::new(request, parsed));
        }
        self.hit = self.oldest;
        self.oldest = (self.oldest + 1) % SHAPES;
    }
}

impl Shape {
    /// A shape whose bytes are still to come.
    fn new(request: RequestKind, parsed: &ParsedHead) -> Self {
        Self {
            before_date: Vec::new(),
            date_bytes: parsed.date.len(),
            behind_date: Vec::new(),
            request,
            headers: parsed.headers,
            head: parsed.head,
        }
    }

    /// Becomes `other`, in the room that the old bytes took.
    fn replace(&mut self, before_date: &[u8], behind_date: &[u8], other: Self) {
        self.before_date.clear();
        self.before_date.extend_from_slice(before_date);
        self.behind_date.clear();
        self.behind_date.extend_from_slice(behind_date);
        *self = Self {
            before_date: std::mem::take(&mut self.before_date),
            behind_date: std::mem::take(&mut self.behind_date),
            ..other
        };
    }

    fn len(&self) -> usize {
        self.before_date.len() + self.date_bytes + self.behind_date.len()
    }

    fn is_match(&self, input: &[u8], request: RequestKind, limits: &ResponseLimits) -> bool {
        let is_within = limits.headers_max >= self.headers && limits.head_bytes_max >= self.len();
        let Some((date, behind)) = input
            .strip_prefix(self.before_date.as_slice())
            .and_then(|rest| rest.split_at_checked(self.date_bytes))
        else {
            return false;
        };
        self.request == request
            && is_within
            && behind.starts_with(&self.behind_date)
            // No early return, so that all bytes are compared at once.
            && date.iter().fold(true, |all, byte| all & is_value_byte(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::super::head;
    use super::*;

    const DATED: &[u8] = b"HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
        Content-Length: 1\r\n\r\n";

    fn keep(cache: &mut HeadCache, bytes: &[u8], request: RequestKind) {
        let parsed = head::parse(bytes, request, &ResponseLimits::default()).unwrap().unwrap();
        cache.keep(bytes, request, &parsed);
    }

    fn is_known(cache: &mut HeadCache, bytes: &[u8], request: RequestKind) -> bool {
        cache.find(bytes, request, &ResponseLimits::default()).is_some()
    }

    fn replaced(from: &str, to: &str) -> Vec<u8> {
        String::from_utf8(DATED.to_vec()).unwrap().replace(from, to).into_bytes()
    }

    #[test]
    fn only_the_date_may_differ() {
        let mut cache = HeadCache::new();
        keep(&mut cache, DATED, RequestKind::Other);
        let mut check = |bytes: &[u8], expected| {
            let is_known = is_known(&mut cache, bytes, RequestKind::Other);
            assert_eq!(is_known, expected, "{}", bytes.escape_ascii());
        };
        check(DATED, true);
        check(&[DATED, b"x"].concat(), true);
        check(&replaced("08:49:37", "08:49:38"), true);
        check(&replaced("Sun, 06 Nov", "Mon, 16 Dec"), true);
        check(&replaced("Length: 1", "Length: 2"), false);
        check(&replaced("200", "201"), false);
        check(&replaced("Sun, ", "Sun\r\n "), false);
        check(&replaced("Sun, ", "Sun\n\n"), false);
        check(&replaced("Sun,", "Sun\0"), false);
        check(&replaced("Sun,", "Sun\x7F"), false);
        check(&DATED[..DATED.len() - 1], false);
        check(&DATED[..30], false);
        check(b"", false);
    }

    #[test]
    fn another_kind_of_request_is_another_head() {
        let mut cache = HeadCache::new();
        keep(&mut cache, DATED, RequestKind::Head);
        assert!(is_known(&mut cache, DATED, RequestKind::Head));
        assert!(!is_known(&mut cache, DATED, RequestKind::Other));
    }

    #[test]
    fn a_known_head_is_held_to_the_limits() {
        let mut cache = HeadCache::new();
        keep(&mut cache, DATED, RequestKind::Other);
        let limits = ResponseLimits { headers_max: 1, ..ResponseLimits::default() };
        assert!(cache.find(DATED, RequestKind::Other, &limits).is_none());
        let limits = ResponseLimits { head_bytes_max: 9, ..ResponseLimits::default() };
        assert!(cache.find(DATED, RequestKind::Other, &limits).is_none());
    }

    #[test]
    fn the_last_four_heads_are_kept() {
        let mut cache = HeadCache::new();
        let heads: Vec<_> =
            (0..6).map(|length| replaced("Length: 1", &format!("Length: {length}"))).collect();
        heads.iter().for_each(|head| keep(&mut cache, head, RequestKind::Other));
        let known: Vec<_> =
            heads.iter().map(|head| is_known(&mut cache, head, RequestKind::Other)).collect();
        assert_eq!(known, [false, false, true, true, true, true]);
    }

    #[test]
    fn a_long_head_is_not_kept() {
        let mut cache = HeadCache::new();
        let long = replaced("Date", &format!("A: {}\r\nDate", "a".repeat(SHAPE_BYTES_MAX)));
        keep(&mut cache, &long, RequestKind::Other);
        assert!(!is_known(&mut cache, &long, RequestKind::Other));
    }
}
