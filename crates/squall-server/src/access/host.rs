//! The `Host` of a request, held against the names that the server goes by.

use std::net::IpAddr;

use http::header::HOST;

use crate::door::Head;

/// Which values of `Host` are answered.
///
/// On a loopback listener only loopback names and those that were named: a page whose
/// name was re-bound to 127.0.0.1 sends its own name.
#[derive(Clone, Debug, Default)]
pub struct HostRule {
    /// Whether the listener is a loopback address; otherwise every host is answered.
    pub loopback_only: bool,
    /// Further host names, without ports.
    pub named: Vec<String>,
}

/// What a request says of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host<'a> {
    /// `host` or `host:port`.
    Named(&'a str),
    /// Nothing, as HTTP/1.0 allows.
    Unnamed,
    /// More than one header, or one that is no host.
    Malformed,
}

/// The host of a request: its target's authority, else its `Host` header.
pub(crate) fn host_of<'a>(head: &Head<'a>) -> Host<'a> {
    if let Some(authority) = head.uri.authority() {
        return Host::Named(authority.as_str());
    }
    let mut values = head.headers.get_all(HOST).iter();
    match (values.next(), values.next()) {
        (None, _) => Host::Unnamed,
        (Some(value), None) => match value.to_str() {
            Ok(host) if is_host(host) => Host::Named(host),
            _ => Host::Malformed,
        },
        (Some(_), Some(_)) => Host::Malformed,
    }
}

fn is_host(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:[]%!$&'()*+,;=".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

impl HostRule {
    pub(crate) fn allows(&self, host: &str) -> bool {
        if !self.loopback_only {
            return true;
        }
        let name = without_port(host);
        is_loopback_name(name) || self.named.iter().any(|named| named.eq_ignore_ascii_case(name))
    }
}

/// The host without its port and without the brackets of an IPv6 address.
pub(crate) fn without_port(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

/// Whether a name always means this machine.
pub(crate) fn is_loopback_name(name: &str) -> bool {
    if name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1" {
        return true;
    }
    let localhost =
        name.len() > 10 && name.as_bytes()[name.len() - 10..].eq_ignore_ascii_case(b".localhost");
    localhost || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str, expected: bool) {
        let rule = HostRule { loopback_only: true, named: vec!["events.example".into()] };
        assert_eq!(rule.allows(host), expected, "{host}");
    }

    #[test]
    fn loopback_names_and_named_hosts_are_answered() {
        for host in
            ["127.0.0.1", "127.0.0.1:8080", "localhost:1", "LOCALHOST", "[::1]:80", "127.9.9.9"]
        {
            check(host, true);
        }
        check("app.localhost:3000", true);
        check("Events.Example:8080", true);
    }

    #[test]
    fn foreign_hosts_are_not() {
        for host in
            ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "[::2]", "10.0.0.1", ""]
        {
            check(host, false);
        }
    }
}
