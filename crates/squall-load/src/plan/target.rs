//! URLs, taken apart.

use std::fmt;

use http::Uri;

/// An HTTP URL in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Whether it is `https`.
    pub tls: bool,
    /// The host, an IPv6 address without its brackets.
    pub host: String,
    /// The port, 80 or 443 unless it was given.
    pub port: u16,
    /// What the request line says: path and query.
    pub path: String,
    /// What the `Host` header says.
    pub authority: String,
}

/// Why a text is no URL that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// No scheme.
    #[error("{url:?} has no scheme; write http://{url}")]
    NoScheme {
        /// What was written.
        url: String,
    },
    /// Another scheme.
    #[error("{url:?}: only http:// and https:// can be loaded")]
    Scheme {
        /// What was written.
        url: String,
    },
    /// A user in the URL.
    #[error("{url:?} holds a user; write --basic-auth USER:PASSWORD instead")]
    User {
        /// What was written.
        url: String,
    },
    /// Something else.
    #[error("{url:?} is no URL: {reason}; write one such as http://127.0.0.1:8080/path?query")]
    Malformed {
        /// What was written.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Target {
    /// Takes `url` apart.
    ///
    /// Template fields such as `{{seq}}` may stand in path and query, where a URL could not
    /// hold braces; so only what stands before the path is parsed as one.
    ///
    /// # Errors
    /// [`TargetError`] if it is no URL of HTTP.
    pub fn parse(url: &str) -> Result<Self, TargetError> {
        let written = || url.to_owned();
        let malformed =
            |reason: &str| TargetError::Malformed { url: written(), reason: reason.to_owned() };
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(TargetError::NoScheme { url: written() });
        };
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err(TargetError::Scheme { url: written() }),
        };
        let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(authority_end);
        if authority.contains('@') {
            return Err(TargetError::User { url: written() });
        }
        let uri: Uri = format!("http://{authority}/")
            .parse()
            .map_err(|error: http::uri::InvalidUri| malformed(&error.to_string()))?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        if host.is_empty() {
            return Err(malformed("there is no host"));
        }
        let behind_host = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest);
        let port = match behind_host.rsplit_once(':') {
            Some((_, port)) => port.parse().ok().filter(|port| *port != 0),
            None => Some(if tls { 443 } else { 80 }),
        };
        let port = port.ok_or_else(|| malformed("the port is no number from 1 to 65535"))?;
        // A fragment stays with the client.
        let path = path.split('#').next().unwrap_or_default();
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { tls, host, port, path, authority: authority.to_owned() })
    }

    /// Whether `other` is reached by the same connections.
    #[must_use]
    pub fn has_same_origin(&self, other: &Self) -> bool {
        self.tls == other.tls
            && self.port == other.port
            && self.host.eq_ignore_ascii_case(&other.host)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, tls: bool, host: &str, port: u16, path: &str) {
        let target = Target::parse(url).unwrap();
        let found = (target.tls, target.host.as_str(), target.port, target.path.as_str());
        assert_eq!(found, (tls, host, port, path), "{url}");
    }

    fn check_refused(url: &str, expected: &str) {
        let error = Target::parse(url).unwrap_err().to_string();
        assert!(error.contains(expected), "{url}: {error}");
    }

    #[test]
    fn urls_are_taken_apart() {
        check("http://127.0.0.1:8080", false, "127.0.0.1", 8080, "/");
        check("http://localhost/a/b?c=d", false, "localhost", 80, "/a/b?c=d");
        check("https://example.test?q", true, "example.test", 443, "/?q");
        check("HTTP://[::1]:81/x#fragment", false, "::1", 81, "/x");
        check("http://h/{{seq}}?r={{random:1..9}}", false, "h", 80, "/{{seq}}?r={{random:1..9}}");
    }

    #[test]
    fn what_is_no_url_is_told_how_to_write_one() {
        check_refused("localhost:8080", "write http://localhost:8080");
        check_refused("", "has no scheme");
        check_refused("ftp://h/", "only http:// and https://");
        check_refused("http://u:p@h/", "--basic-auth");
        check_refused("http:///path", "is no URL");
        check_refused("http://h:99999/", "is no URL");
        check_refused("http://h:0/", "the port");
        check_refused("http://h:/", "the port");
        check_refused("http://a b/", "is no URL");
    }
}
