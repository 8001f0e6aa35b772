//! Durations, as people write them: `15s`, `2m`, `1500ms`, `7days`.

use std::time::Duration;

/// Why a text is no duration that an option takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DurationError {
    /// No number with a unit of time.
    #[error("not a duration; write a number with a unit, such as 500ms, 15s, 2m or 7days")]
    Malformed,
    /// Less than the option can work with.
    #[error("too short; write at least {}", humantime::format_duration(*.0))]
    TooShort(Duration),
    /// More than the option can work with.
    #[error("too long; write at most {}", humantime::format_duration(*.0))]
    TooLong(Duration),
}

/// A parser that takes durations from `min` to `max`.
pub(crate) fn duration(
    min: Duration,
    max: Duration,
) -> impl Fn(&str) -> Result<Duration, DurationError> + Clone + Send + Sync + 'static {
    move |text| match humantime::parse_duration(text) {
        Err(_) => Err(DurationError::Malformed),
        Ok(duration) if duration < min => Err(DurationError::TooShort(min)),
        Ok(duration) if duration > max => Err(DurationError::TooLong(max)),
        Ok(duration) => Ok(duration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_unit() {
        let parse = duration(Duration::from_millis(1), Duration::from_secs(864_000));
        assert_eq!(parse("15s"), Ok(Duration::from_secs(15)));
        assert_eq!(parse("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse("7days"), Ok(Duration::from_secs(604_800)));
        for text in ["", "15", "s", "-1s", "15 parsecs"] {
            assert_eq!(parse(text), Err(DurationError::Malformed), "{text}");
        }
    }

    #[test]
    fn bounds_are_named() {
        let parse = duration(Duration::from_secs(1), Duration::from_secs(3600));
        assert_eq!(parse("0s").unwrap_err().to_string(), "too short; write at least 1s");
        assert_eq!(parse("2h").unwrap_err().to_string(), "too long; write at most 1h");
    }
}
