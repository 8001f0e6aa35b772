//! Sizes in bytes, as people write them: `64MiB`, `1GiB`, `100000`.

use std::fmt;
use std::str::FromStr;

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ByteSize(pub(crate) u64);

/// Units, largest first.
const UNITS: [(&str, u64); 4] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// Why a text is no size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ByteSizeError {
    /// Not a number with a known unit.
    #[error(
        "not a size; write a whole number of bytes, or one with KiB, MiB, GiB or TiB, such as 64MiB"
    )]
    Malformed,
    /// Units of a thousand, which would be off by some percent without anybody noticing.
    #[error("{unit} is not taken, since it means two things; write {instead} for {meaning} bytes")]
    Decimal {
        /// What was written.
        unit: String,
        /// The unit to write.
        instead: &'static str,
        /// Its bytes.
        meaning: u64,
    },
    /// Less than the option can work with.
    #[error("too small; write at least {0}")]
    TooSmall(ByteSize),
    /// More than the option can work with.
    #[error("too large; write at most {0}")]
    TooLarge(ByteSize),
}

/// A parser that takes sizes from `min` to `max`.
pub(crate) fn bytes(
    min: u64,
    max: u64,
) -> impl Fn(&str) -> Result<ByteSize, ByteSizeError> + Clone + Send + Sync + 'static {
    move |text| match text.parse()? {
        ByteSize(size) if size < min => Err(ByteSizeError::TooSmall(ByteSize(min))),
        ByteSize(size) if size > max => Err(ByteSizeError::TooLarge(ByteSize(max))),
        size => Ok(size),
    }
}

impl ByteSize {
    /// The size as a length in memory; the parsers' bounds keep it below the machine's.
    pub(crate) fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl FromStr for ByteSize {
    type Err = ByteSizeError;

    fn from_str(text: &str) -> Result<Self, ByteSizeError> {
        let text = text.trim();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let factor = factor_of(unit.trim_start())?;
        // Only a number that is too long fails here, and an empty one.
        let number = match number {
            "" => return Err(ByteSizeError::Malformed),
            number => number.parse().unwrap_or(u64::MAX),
        };
        number.checked_mul(factor).map(Self).ok_or(ByteSizeError::TooLarge(Self(u64::MAX)))
    }
}

fn factor_of(unit: &str) -> Result<u64, ByteSizeError> {
    if unit.is_empty() || unit.eq_ignore_ascii_case("B") {
        return Ok(1);
    }
    for (name, factor) in UNITS {
        if unit.eq_ignore_ascii_case(name) {
            return Ok(factor);
        }
        let letter = &name[..1];
        let short = unit.strip_suffix(['b', 'B']).unwrap_or(unit);
        if short.eq_ignore_ascii_case(letter) {
            let unit = unit.to_owned();
            return Err(ByteSizeError::Decimal { unit, instead: name, meaning: factor });
        }
    }
    Err(ByteSizeError::Malformed)
}

/// The largest unit that divides it, so that what is printed can be written again.
impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, factor) in UNITS {
            if self.0 != 0 && self.0.is_multiple_of(factor) {
                return write!(f, "{}{name}", self.0 / factor);
            }
        }
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: u64) {
        assert_eq!(text.parse(), Ok(ByteSize(expected)), "{text}");
    }

    fn check_refused(text: &str, expected: &str) {
        let error = text.parse::<ByteSize>().unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }

    #[test]
    fn sizes_are_read_with_and_without_a_unit() {
        check("0", 0);
        check("100000", 100_000);
        check("100000B", 100_000);
        check("64MiB", 64 << 20);
        check("64 mib", 64 << 20);
        check(" 1GiB ", 1 << 30);
        check("8KiB", 8192);
        check("2TiB", 2 << 40);
        check("18446744073709551615", u64::MAX);
    }

    #[test]
    fn what_is_no_size_is_told_how_to_write_one() {
        for text in ["", "MiB", "-1", "1.5GiB", "0x10", "1e6", "64 Mi B", "64MiBs", "64µB", "٣"] {
            check_refused(text, "such as 64MiB");
        }
    }

    #[test]
    fn a_unit_with_two_meanings_is_told_which_to_write() {
        check_refused("64MB", "MB is not taken, since it means two things; write MiB for 1048576");
        check_refused("1g", "write GiB");
        check_refused("1kB", "write KiB for 1024 bytes");
    }

    #[test]
    fn bounds_are_named_in_the_unit_that_fits() {
        let parse = bytes(8 << 10, 1 << 20);
        assert_eq!(parse("8KiB"), Ok(ByteSize(8 << 10)));
        assert_eq!(parse("1MiB"), Ok(ByteSize(1 << 20)));
        assert_eq!(parse("0").unwrap_err().to_string(), "too small; write at least 8KiB");
        assert_eq!(parse("1048577").unwrap_err().to_string(), "too large; write at most 1MiB");
        check_refused("99999999999999999999TiB", "too large");
        assert!(parse("99999999999999999999").is_err());
    }

    #[test]
    fn what_is_printed_can_be_read_again() {
        for size in [0, 1, 1023, 1024, 1536, 64 << 20, 1 << 30, (1 << 40) + 1, u64::MAX] {
            let size = ByteSize(size);
            assert_eq!(size.to_string().parse(), Ok(size));
        }
        assert_eq!(ByteSize(1536).to_string(), "1536");
        assert_eq!(ByteSize(64 << 20).to_string(), "64MiB");
    }
}
