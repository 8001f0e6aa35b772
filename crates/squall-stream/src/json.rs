//! JSON appends: validated, and cut into elements without touching a byte of them.

use std::fmt;

use bytes::Bytes;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Why a body cannot be appended to a JSON stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The body is no JSON text.
    #[error("the body is not JSON: {reason}")]
    Invalid {
        /// What the parser met, with line and column.
        reason: String,
    },
    /// The array holds more elements than one append may.
    #[error("the array holds {count} elements; one append takes at most {max}")]
    TooManyElements {
        /// Elements in the array.
        count: usize,
        /// The most that is allowed.
        max: usize,
    },
}

/// The elements that `body` appends: those of a top-level array, or the one value.
///
/// One array level is flattened, so `[[1,2],[3]]` gives `[1,2]` and `[3]`, and `[]`
/// gives none. Each element is a slice of `body`, byte for byte as it was sent, without
/// the white space around it.
///
/// # Errors
/// [`JsonError::Invalid`] if `body` is not one JSON text, and
/// [`JsonError::TooManyElements`] beyond `elements_max`.
pub fn elements(body: &Bytes, elements_max: usize) -> Result<Vec<Bytes>, JsonError> {
    let first = body.iter().find(|byte| !b" \t\r\n".contains(byte));
    if first != Some(&b'[') {
        let value: &RawValue = parse(body)?;
        return Ok(vec![body.slice_ref(value.get().as_bytes())]);
    }
    let Elements { values, count } = parse_elements(body, elements_max)?;
    if count > elements_max {
        return Err(JsonError::TooManyElements { count, max: elements_max });
    }
    Ok(values.iter().map(|value| body.slice_ref(value.get().as_bytes())).collect())
}

/// The array of `elements`, piece by piece: what [`elements`] took apart.
pub fn array<E: AsRef<[u8]>>(elements: impl IntoIterator<Item = E>, mut push: impl FnMut(&[u8])) {
    push(b"[");
    for (index, element) in elements.into_iter().enumerate() {
        if index > 0 {
            push(b",");
        }
        push(element.as_ref());
    }
    push(b"]");
}

/// The elements of an array, as many as may be kept, and how many there are.
struct Elements<'a> {
    values: Vec<&'a RawValue>,
    count: usize,
}

/// Reads an array to its end, but keeps no more than `kept_max` of its elements: what is
/// too long costs no more memory than what is not.
struct ElementsVisitor {
    kept_max: usize,
}

impl<'de> Visitor<'de> for ElementsVisitor {
    type Value = Elements<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Elements<'de>, A::Error> {
        let mut elements = Elements { values: Vec::new(), count: 0 };
        while elements.count < self.kept_max {
            let Some(value) = array.next_element()? else {
                return Ok(elements);
            };
            elements.values.push(value);
            elements.count += 1;
        }
        while array.next_element::<IgnoredAny>()?.is_some() {
            elements.count += 1;
        }
        Ok(elements)
    }
}

fn parse_elements(body: &Bytes, kept_max: usize) -> Result<Elements<'_>, JsonError> {
    let mut parser = serde_json::Deserializer::from_slice(body);
    let elements = parser.deserialize_seq(ElementsVisitor { kept_max });
    let elements = elements.and_then(|elements| parser.end().map(|()| elements));
    elements.map_err(|error| JsonError::Invalid { reason: error.to_string() })
}

fn parse<'a, T: serde::Deserialize<'a>>(body: &'a Bytes) -> Result<T, JsonError> {
    serde_json::from_slice(body).map_err(|error| JsonError::Invalid { reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: &[&str]) {
        let found = elements(&Bytes::copy_from_slice(body.as_bytes()), 10).unwrap();
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn one_level_is_flattened_and_bytes_are_kept() {
        check(r#"{"k": 1}"#, &[r#"{"k": 1}"#]);
        check(" [ {\"k\":1} ,\n2.50, \"\\u00e9\" ] ", &["{\"k\":1}", "2.50", "\"\\u00e9\""]);
        check("[[1,2],[3]]", &["[1,2]", "[3]"]);
        check("[]", &[]);
        check("[[]]", &["[]"]);
        check("null", &["null"]);
    }

    #[test]
    fn an_array_is_put_together_as_it_was_taken_apart() {
        for text in ["[]", "[1]", r#"[{"k": 1},2.50,[]]"#] {
            let parts = elements(&Bytes::copy_from_slice(text.as_bytes()), 10).unwrap();
            let mut joined = Vec::new();
            array(&parts, |bytes| joined.extend_from_slice(bytes));
            assert_eq!(joined, text.as_bytes());
        }
    }

    #[test]
    fn deep_nesting_neither_fails_nor_overflows_the_stack() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let found = elements(&Bytes::from(deep.clone()), 10).unwrap();
        assert_eq!(found[0], deep[1..deep.len() - 1]);
    }

    #[test]
    fn what_is_not_one_json_text_is_refused() {
        for body in ["", " ", "{", "[1,]", "1 2", "[1] x", "NaN", "'a'", "\u{feff}1", "[1"] {
            let found = elements(&Bytes::copy_from_slice(body.as_bytes()), 10);
            assert!(matches!(found, Err(JsonError::Invalid { .. })), "{body:?}");
        }
        let bytes = Bytes::from_static(b"\"\xff\"");
        assert!(elements(&bytes, 10).is_err());
    }

    #[test]
    fn too_many_elements_are_counted() {
        let found = elements(&Bytes::from_static(b"[1,2,3]"), 2);
        assert_eq!(found, Err(JsonError::TooManyElements { count: 3, max: 2 }));
        let many = format!("[{}1]", "1,".repeat(100_000));
        let found = elements(&Bytes::from(many), 2);
        assert_eq!(found, Err(JsonError::TooManyElements { count: 100_001, max: 2 }));
    }
}
