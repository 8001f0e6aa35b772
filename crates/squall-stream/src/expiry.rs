//! When a stream ends by itself.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::instant::UnixMillis;

/// The rule by which a stream expires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expiry {
    /// Only a deletion ends the stream.
    #[default]
    Never,
    /// This many seconds after the last read or append.
    Ttl(u64),
    /// At this instant, whatever happens.
    At(UnixMillis),
}

/// Why a text is no expiry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpiryError {
    /// Not a whole number of seconds in plain decimal.
    #[error("Stream-TTL is {text:?}; write whole seconds in plain decimal, such as 3600")]
    Ttl {
        /// What was given.
        text: String,
    },
    /// Not a date and time of RFC 3339.
    #[error(
        "Stream-Expires-At is {text:?}; write an RFC 3339 instant, such as 2030-01-01T00:00:00Z"
    )]
    Instant {
        /// What was given.
        text: String,
    },
}

impl Expiry {
    /// Reads a `Stream-TTL` value: `0`, or digits without a leading zero.
    ///
    /// # Errors
    /// [`ExpiryError::Ttl`] for signs, fractions, exponents, leading zeros, other
    /// characters, and numbers beyond 64 bits of milliseconds.
    pub fn parse_ttl(text: &str) -> Result<Self, ExpiryError> {
        let wrong = || ExpiryError::Ttl { text: text.to_owned() };
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits || (text.len() > 1 && text.starts_with('0')) {
            return Err(wrong());
        }
        let seconds: u64 = text.parse().ok().ok_or_else(wrong)?;
        // Stored as SQL integers: what overflows there is no sensible window.
        if seconds > i64::MAX.unsigned_abs() / 1_000 {
            return Err(wrong());
        }
        Ok(Self::Ttl(seconds))
    }

    /// Reads a `Stream-Expires-At` value.
    ///
    /// # Errors
    /// [`ExpiryError::Instant`] if it is no RFC 3339 instant of 1970 or later.
    pub fn parse_instant(text: &str) -> Result<Self, ExpiryError> {
        let wrong = || ExpiryError::Instant { text: text.to_owned() };
        let parsed = OffsetDateTime::parse(text, &Rfc3339).ok().ok_or_else(wrong)?;
        let millis = parsed.unix_timestamp_nanos().div_euclid(1_000_000);
        let millis = u64::try_from(millis).ok().ok_or_else(wrong)?;
        Ok(Self::At(UnixMillis(millis)))
    }

    /// The instant at which a stream last used at `last_access` is gone.
    #[must_use]
    pub fn deadline(self, last_access: UnixMillis) -> Option<UnixMillis> {
        match self {
            Self::Never => None,
            Self::Ttl(seconds) => Some(last_access.plus(seconds.saturating_mul(1_000))),
            Self::At(instant) => Some(instant),
        }
    }

    /// Whether a stream last used at `last_access` is gone at `now`.
    #[must_use]
    pub fn is_over(self, last_access: UnixMillis, now: UnixMillis) -> bool {
        self.deadline(last_access).is_some_and(|deadline| deadline <= now)
    }

    /// How often a sliding window is written down while the stream is used, in ms:
    /// a quarter of it, between one second and one minute.
    #[must_use]
    pub fn renewal_interval_ms(self) -> Option<u64> {
        match self {
            Self::Ttl(seconds) => Some((seconds.saturating_mul(1_000) / 4).clamp(1_000, 60_000)),
            Self::Never | Self::At(_) => None,
        }
    }
}

/// Prints an instant in RFC 3339, in UTC with milliseconds where they matter.
#[must_use]
pub fn rfc3339(instant: UnixMillis) -> String {
    let nanos = i128::from(instant.0) * 1_000_000;
    OffsetDateTime::from_unix_timestamp_nanos(nanos)
        .ok()
        .and_then(|moment| moment.format(&Rfc3339).ok())
        .unwrap_or_else(|| "9999-12-31T23:59:59Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ttl_is_plain_decimal() {
        assert_eq!(Expiry::parse_ttl("0"), Ok(Expiry::Ttl(0)));
        assert_eq!(Expiry::parse_ttl("3600"), Ok(Expiry::Ttl(3600)));
        for text in ["", "+60", "00060", "60.5", "1e3", "-1", "abc", " 60", "99999999999999999999"]
        {
            assert!(Expiry::parse_ttl(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn instants_with_any_utc_offset_are_one_instant() {
        let zulu = Expiry::parse_instant("2030-01-01T00:00:00Z");
        assert_eq!(zulu, Expiry::parse_instant("2030-01-01T01:30:00+01:30"));
        assert_eq!(zulu, Ok(Expiry::At(UnixMillis(1_893_456_000_000))));
        for text in ["", "tomorrow", "2030-01-01", "2030-13-01T00:00:00Z", "1969-01-01T00:00:00Z"] {
            assert!(Expiry::parse_instant(text).is_err(), "{text:?}");
        }
        assert_eq!(rfc3339(UnixMillis(1_893_456_000_000)), "2030-01-01T00:00:00Z");
    }

    #[test]
    fn a_window_slides_and_an_instant_does_not() {
        let (used, late) = (UnixMillis(1_000), UnixMillis(3_000));
        assert!(!Expiry::Ttl(2).is_over(used, UnixMillis(2_999)));
        assert!(Expiry::Ttl(2).is_over(used, late));
        assert!(!Expiry::Ttl(2).is_over(UnixMillis(1_001), late));
        assert!(Expiry::At(late).is_over(late, late));
        assert!(!Expiry::Never.is_over(used, UnixMillis(u64::MAX)));
        assert_eq!(Expiry::Ttl(2).renewal_interval_ms(), Some(1_000));
        assert_eq!(Expiry::Ttl(86_400).renewal_interval_ms(), Some(60_000));
    }
}
