//! Fields: `{{…}}` in a text, and the values that take their place.

use std::ops::Range;

use memchr::memmem;

use super::error::TemplateError;
use crate::digits::{DECIMAL_DIGITS_MAX, read_decimal, write_decimal};
use crate::stamp::{STAMP_BYTES_MIN, Stamp};

/// Width of `{{seq}}`, in digits: 10^12 requests are a month at 385,000 a second.
const SEQUENCE_DIGITS: usize = 12;

/// Longest stamp with its padding, in bytes, so that a slip of the pen asks for no gigabytes.
const STAMP_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What one sending of a template writes into its fields.
pub struct FieldValues<'v> {
    /// Number of the request, from zero: `{{seq}}` is it, `{{seq:START}}` counts from there.
    pub sequence: u64,
    /// The intended start in nanoseconds, for `{{now_ns}}` and stamps.
    pub time_ns: u64,
    /// Who sends, for stamps.
    pub publisher: u64,
    /// Number of the payload among those of the publisher, for stamps.
    pub publisher_sequence: u64,
    /// Gives 64 random bits, once or twice for each `{{random:A..B}}`.
    pub random: &'v mut dyn FnMut() -> u64,
}

impl std::fmt::Debug for FieldValues<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("FieldValues")
            .field("sequence", &self.sequence)
            .field("time_ns", &self.time_ns)
            .field("publisher", &self.publisher)
            .field("publisher_sequence", &self.publisher_sequence)
            .finish_non_exhaustive()
    }
}

/// A place that changes from one sending to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Where it stands in the request.
    pub(super) range: Range<usize>,
    pub(super) kind: FieldKind,
}

/// What is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// The number of the request behind `start`, modulo what the width holds.
    Sequence {
        start: u64,
    },
    /// A number from `least` to `most`.
    Random {
        least: u64,
        most: u64,
    },
    Time,
    Stamp,
}

impl FieldKind {
    /// Fills the place of the field.
    pub(super) fn write(self, out: &mut [u8], values: &mut FieldValues<'_>) {
        match self {
            Self::Sequence { start } => write_sum(out, start, values.sequence),
            Self::Random { least, most } => {
                write_decimal(out, random_within(least, most, values.random));
            }
            Self::Time => write_decimal(out, values.time_ns),
            Self::Stamp => Stamp {
                publisher: values.publisher,
                sequence: values.publisher_sequence,
                time_ns: values.time_ns,
            }
            .write(out),
        }
    }
}

/// Appends `text` to `out` with room for its fields, and notes them. The room is filled with
/// zeros, so that what is there is well-formed before the first sending too.
pub(super) fn expand(
    text: &[u8],
    out: &mut Vec<u8>,
    fields: &mut Vec<Field>,
) -> Result<(), TemplateError> {
    let mut rest = text;
    while let Some(open) = memmem::find(rest, b"{{") {
        let (before, from_open) = rest.split_at(open);
        out.extend_from_slice(before);
        let Some((field, behind)) = first_field(from_open)? else {
            // The second brace may open a field of its own, as in `{{{seq}}`.
            let (brace, behind) = from_open.split_at(1);
            out.extend_from_slice(brace);
            rest = behind;
            continue;
        };
        let start = out.len();
        out.resize(start + field.width, b'0');
        fields.push(Field { range: start..out.len(), kind: field.kind });
        rest = behind;
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// A field as it was written.
struct Written {
    kind: FieldKind,
    width: usize,
}

/// The field that `text` begins with, and what is behind it.
fn first_field(text: &[u8]) -> Result<Option<(Written, &[u8])>, TemplateError> {
    let Some(close) = memmem::find(text, b"}}") else {
        return Ok(None);
    };
    let (field, behind) = text.split_at(close + 2);
    let inner = field.get(2..close).unwrap_or_default();
    let Ok(inner) = std::str::from_utf8(inner) else {
        return Ok(None);
    };
    let written = match inner.split_once(':') {
        None if inner == "seq" => Some((FieldKind::Sequence { start: 0 }, SEQUENCE_DIGITS)),
        None if inner == "now_ns" => Some((FieldKind::Time, DECIMAL_DIGITS_MAX)),
        Some(("seq", start)) => Some(sequence(start).ok_or_else(|| {
            malformed(inner, "it starts from 1 to 20 digits, such as {{seq:0001}}")
        })?),
        Some(("random", range)) => Some(random(range).ok_or_else(|| {
            malformed(inner, "it is from the least to the most, such as {{random:1..100}}")
        })?),
        Some(("stamp", bytes)) => Some(stamp(bytes).ok_or_else(|| {
            malformed(inner, "it has from 63 bytes to 16 MiB, such as {{stamp:100}}")
        })?),
        _ => None,
    };
    Ok(written.map(|(kind, width)| (Written { kind, width }, behind)))
}

fn malformed(inner: &str, expected: &'static str) -> TemplateError {
    TemplateError::Field { field: format!("{{{{{inner}}}}}"), expected }
}

fn sequence(start: &str) -> Option<(FieldKind, usize)> {
    Some((FieldKind::Sequence { start: number(start)? }, start.len()))
}

fn random(range: &str) -> Option<(FieldKind, usize)> {
    let (least_text, most_text) = range.split_once("..")?;
    let (least, most) = (number(least_text)?, number(most_text)?);
    (least <= most).then_some((FieldKind::Random { least, most }, most_text.len()))
}

fn stamp(bytes: &str) -> Option<(FieldKind, usize)> {
    let bytes = usize::try_from(number(bytes)?).ok()?;
    (STAMP_BYTES_MIN..=STAMP_BYTES_MAX).contains(&bytes).then_some((FieldKind::Stamp, bytes))
}

fn number(digits: &str) -> Option<u64> {
    (digits.len() <= DECIMAL_DIGITS_MAX).then(|| read_decimal(digits.as_bytes())).flatten()
}

/// Writes the last digits of a sum that may not fit into 64 bits.
fn write_sum(out: &mut [u8], start: u64, sequence: u64) {
    let Some(sum) = start.checked_add(sequence) else {
        let sum = u128::from(start) + u128::from(sequence);
        let digits = format!("{sum:0>width$}", width = out.len());
        let digits = digits.as_bytes();
        let last = digits.len() - out.len();
        out.copy_from_slice(digits.get(last..).unwrap_or_default());
        return;
    };
    write_decimal(out, sum);
}

/// A number from `least` to `most`, each as likely as any other up to 2^-32: of 64 bits for up
/// to 2^32 numbers, of 128 bits for more.
fn random_within(least: u64, most: u64, random: &mut dyn FnMut() -> u64) -> u64 {
    let span = u128::from(most - least) + 1;
    let high = u128::from(random()) * span;
    let scaled = if span <= 1 << 32 {
        high >> 64
    } else {
        (high + ((u128::from(random()) * span) >> 64)) >> 64
    };
    least + u64::try_from(scaled).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_stay_within_their_ends_and_reach_them() {
        let check = |least, most| {
            assert_eq!(random_within(least, most, &mut || 0), least);
            assert_eq!(random_within(least, most, &mut || u64::MAX), most);
        };
        check(0, 0);
        check(7, 7);
        check(1, 6);
        check(0, u64::from(u32::MAX));
        check(0, u64::from(u32::MAX) + 1);
        check(5, u64::MAX);
        check(0, u64::MAX);
    }

    #[test]
    fn a_sum_beyond_64_bits_wraps_within_its_digits() {
        let check = |width, start, sequence, expected: &str| {
            let mut out = vec![0; width];
            write_sum(&mut out, start, sequence);
            assert_eq!(out, expected.as_bytes());
        };
        check(3, 998, 1, "999");
        check(3, 998, 3, "001");
        check(20, u64::MAX, 1, "18446744073709551616");
        check(2, u64::MAX, u64::MAX, "30");
    }
}
