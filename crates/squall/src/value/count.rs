//! Counts of things, within bounds.

/// Why a text is no count that an option takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CountError {
    /// No whole number.
    #[error("not a count; write a whole number, such as {0}")]
    Malformed(usize),
    /// Less than the option can work with.
    #[error("too small; write at least {0}")]
    TooSmall(usize),
    /// More than the option can work with.
    #[error("too large; write at most {0}")]
    TooLarge(usize),
}

/// A parser that takes whole numbers from `min` to `max`.
pub(crate) fn count(
    min: usize,
    max: usize,
) -> impl Fn(&str) -> Result<usize, CountError> + Clone + Send + Sync + 'static {
    move |text| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(number) if number < min => Err(CountError::TooSmall(min)),
            Ok(number) if number <= max => Ok(number),
            // A number too long to be read is too large as well.
            Ok(_) => Err(CountError::TooLarge(max)),
            Err(_) if digits => Err(CountError::TooLarge(max)),
            Err(_) => Err(CountError::Malformed(max.min(min.max(1) * 100))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_numbers_within_bounds() {
        let parse = count(1, 1_000);
        assert_eq!(parse("1"), Ok(1));
        assert_eq!(parse("1000"), Ok(1_000));
        assert_eq!(parse("0"), Err(CountError::TooSmall(1)));
        assert_eq!(parse("1001"), Err(CountError::TooLarge(1_000)));
        assert_eq!(parse("99999999999999999999"), Err(CountError::TooLarge(1_000)));
        for text in ["", "-1", "many", "1.5", "1k", "1_000"] {
            let sentence = parse(text).unwrap_err().to_string();
            assert_eq!(sentence, "not a count; write a whole number, such as 100", "{text}");
        }
    }
}
