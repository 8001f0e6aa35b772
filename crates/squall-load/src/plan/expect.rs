//! What a reply must be to count as verified.

use memchr::memmem;

use crate::spec::{Expectations, StatusPattern};

/// The expectations of a load, ready to be held against replies.
#[derive(Clone, Debug)]
pub struct Check {
    status: Vec<StatusPattern>,
    bytes: Option<u64>,
    body: Option<Vec<u8>>,
    contains: Option<Needle>,
}

#[derive(Clone, Debug)]
struct Needle {
    bytes: Vec<u8>,
    finder: memmem::Finder<'static>,
}

/// How far the body of one reply has been checked.
#[derive(Debug, Default)]
pub(crate) struct BodyState {
    /// Decoded bytes so far.
    pub(crate) bytes: u64,
    differs: bool,
    found: bool,
    /// The end of what came before, in which a part that is looked for may begin.
    tail: Vec<u8>,
}

impl Check {
    /// Prepares `expectations`.
    #[must_use]
    pub fn new(expectations: &Expectations) -> Self {
        let needle = |bytes: &Vec<u8>| Needle {
            bytes: bytes.clone(),
            finder: memmem::Finder::new(bytes).into_owned(),
        };
        Self {
            status: expectations.status.clone(),
            bytes: expectations.bytes,
            body: expectations.body.clone(),
            contains: expectations.body_contains.as_ref().map(needle),
        }
    }

    /// Whether `status` passes.
    #[must_use]
    pub fn takes_status(&self, status: u16) -> bool {
        if self.status.is_empty() {
            return (200..400).contains(&status);
        }
        self.status.iter().any(|pattern| match pattern {
            StatusPattern::Code(code) => *code == status,
            StatusPattern::Class(class) => *class == status / 100,
        })
    }

    /// Takes in the next part of a body.
    pub(crate) fn feed(&self, state: &mut BodyState, part: &[u8]) {
        if let Some(body) = &self.body {
            let at = usize::try_from(state.bytes).unwrap_or(usize::MAX);
            let expected = body.get(at..).and_then(|rest| rest.get(..part.len()));
            state.differs |= expected != Some(part);
        }
        if let Some(needle) = &self.contains
            && !state.found
        {
            needle.look(state, part);
        }
        state.bytes += part.len() as u64;
    }

    /// Whether the whole body passes.
    pub(crate) fn takes_body(&self, state: &BodyState) -> bool {
        let whole = |body: &Vec<u8>| !state.differs && state.bytes == body.len() as u64;
        self.bytes.is_none_or(|bytes| bytes == state.bytes)
            && self.body.as_ref().is_none_or(whole)
            && self.contains.as_ref().is_none_or(|needle| state.found || needle.bytes.is_empty())
    }
}

impl Needle {
    fn look(&self, state: &mut BodyState, part: &[u8]) {
        let overlap = self.bytes.len().saturating_sub(1);
        let border = part.get(..overlap.min(part.len())).unwrap_or_default();
        state.tail.extend_from_slice(border);
        state.found = self.finder.find(&state.tail).is_some() || self.finder.find(part).is_some();
        state.tail.truncate(state.tail.len() - border.len());
        // Only the end can be the beginning of a match.
        let end = part.get(part.len().saturating_sub(overlap)..).unwrap_or_default();
        state.tail.extend_from_slice(end);
        let surplus = state.tail.len().saturating_sub(overlap);
        state.tail.drain(..surplus);
    }
}

impl BodyState {
    /// Forgets the reply, for the next one.
    pub(crate) fn reset(&mut self) {
        self.bytes = 0;
        self.differs = false;
        self.found = false;
        self.tail.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn passes(expectations: &Expectations, body: &[u8], portion: usize) -> bool {
        let check = Check::new(expectations);
        let mut state = BodyState::default();
        body.chunks(portion).for_each(|part| check.feed(&mut state, part));
        check.takes_body(&state)
    }

    #[test]
    fn statuses_pass_by_code_or_class() {
        let any = Check::new(&Expectations::default());
        let found = [200, 204, 304, 302, 199, 404, 500].map(|status| any.takes_status(status));
        assert_eq!(found, [true, true, true, true, false, false, false]);
        let status = vec![StatusPattern::Code(404), StatusPattern::Class(2)];
        let chosen = Check::new(&Expectations { status, ..Expectations::default() });
        assert_eq!([404, 204, 304].map(|status| chosen.takes_status(status)), [true, true, false]);
    }

    #[test]
    fn bodies_pass_whole_by_part_or_by_length() {
        let whole =
            |body: &str| Expectations { body: Some(body.into()), ..Expectations::default() };
        assert!(passes(&whole("hello"), b"hello", 2));
        assert!(!passes(&whole("hello"), b"hell", 2));
        assert!(!passes(&whole("hello"), b"hellos", 2));
        assert!(!passes(&whole("hello"), b"jello", 2));
        assert!(passes(&whole(""), b"", 1));
        let bytes = Expectations { bytes: Some(3), ..Expectations::default() };
        assert!(passes(&bytes, b"abc", 1) && !passes(&bytes, b"ab", 1));
    }

    proptest! {
        /// A part is found wherever the bytes are split, and only if it is there.
        #[test]
        fn a_part_is_found_at_every_split(
            body in "[ab]{0,24}", part in "[ab]{0,6}", portion in 1..9_usize
        ) {
            let expectations = Expectations {
                body_contains: Some(part.clone().into_bytes()),
                ..Expectations::default()
            };
            prop_assert_eq!(passes(&expectations, body.as_bytes(), portion), body.contains(&part));
        }
    }
}
