//! The `Origin` of a request, held against the origins that may use the server.

use std::str::FromStr;

use crate::access::host::{is_loopback_name, without_port};

/// Which web origins may read answers and send unsafe requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginRule {
    any: bool,
    named: Vec<String>,
}

/// A text that is no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no origin; write scheme://host or scheme://host:port without a path, or * for any"
)]
pub struct OriginParseError {
    text: String,
}

impl OriginRule {
    /// Loopback origins only, whatever their port.
    #[must_use]
    pub fn loopback() -> Self {
        Self::default()
    }

    /// The given origins besides the loopback ones; `*` allows every origin.
    ///
    /// # Errors
    /// [`OriginParseError`] names the first text that is neither.
    pub fn parse(origins: &[String]) -> Result<Self, OriginParseError> {
        let mut rule = Self::default();
        for text in origins {
            if text == "*" {
                rule.any = true;
            } else {
                let origin: Origin<'_> =
                    Origin::parse(text).ok_or_else(|| OriginParseError { text: text.clone() })?;
                rule.named.push(format!("{}://{}", origin.scheme, origin.host));
            }
        }
        Ok(rule)
    }

    /// Whether every origin is allowed.
    #[must_use]
    pub fn allows_any(&self) -> bool {
        self.any
    }

    pub(crate) fn allows(&self, origin: &str) -> bool {
        if self.any || self.named.iter().any(|named| named.eq_ignore_ascii_case(origin)) {
            return true;
        }
        Origin::parse(origin).is_some_and(|origin| is_loopback_name(without_port(origin.host)))
    }
}

impl FromStr for OriginRule {
    type Err = OriginParseError;

    fn from_str(text: &str) -> Result<Self, OriginParseError> {
        Self::parse(&[text.to_owned()])
    }
}

/// Whether `origin` is the server's own, reached as `host`.
pub(crate) fn is_own(origin: &str, host: &str) -> bool {
    Origin::parse(origin).is_some_and(|origin| origin.host.eq_ignore_ascii_case(host))
}

struct Origin<'a> {
    scheme: &'a str,
    host: &'a str,
}

impl<'a> Origin<'a> {
    /// Reads `scheme://host[:port]`; `null` and everything with a path is none.
    fn parse(text: &'a str) -> Option<Self> {
        let (scheme, host) = text.split_once("://")?;
        let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        let plain = !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']);
        (web && plain).then_some(Self { scheme, host })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_origins_are_allowed_by_default() {
        let rule = OriginRule::loopback();
        for origin in ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:8443"] {
            assert!(rule.allows(origin), "{origin}");
        }
        let foreign =
            ["null", "http://evil.example", "http://localhost.evil.example", "file://", ""];
        for origin in foreign {
            assert!(!rule.allows(origin), "{origin}");
        }
    }

    #[test]
    fn named_origins_and_the_star_have_to_be_asked_for() {
        let named = OriginRule::parse(&["https://app.example".to_owned()]).unwrap();
        assert!(named.allows("https://app.example"));
        assert!(!named.allows("http://app.example"));
        assert!(!named.allows("https://app.example:8443"));
        assert!("*".parse::<OriginRule>().unwrap().allows("null"));
        assert!("app.example".parse::<OriginRule>().is_err());
        assert!("https://app.example/".parse::<OriginRule>().is_err());
    }

    #[test]
    fn the_servers_own_origin_is_its_host() {
        assert!(is_own("http://events.example:8080", "events.example:8080"));
        assert!(!is_own("http://events.example:8081", "events.example:8080"));
        assert!(!is_own("null", "events.example"));
    }
}
