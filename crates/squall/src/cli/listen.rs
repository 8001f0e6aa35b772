//! Where the server listens, and which hosts and origins it answers.

use std::net::{AddrParseError, IpAddr, SocketAddr};

use clap::builder::BoolishValueParser;
use squall_server::access::OriginRule;

/// Options of the listener.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ListenArgs {
    /// Address and port to listen on. Port 0 takes a free port and prints it.
    #[arg(long, env = "SQUALL_LISTEN", value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    #[arg(value_parser = parse_address)]
    pub(crate) listen: SocketAddr,

    /// Serve everyone who can reach an address that is not loopback. There is no
    /// authentication yet: whoever connects may read, append and delete.
    #[arg(long, env = "SQUALL_ALLOW_ANONYMOUS", value_parser = BoolishValueParser::new())]
    pub(crate) allow_anonymous: bool,

    /// Web origins whose pages may use the server, besides loopback ones, such as
    /// https://app.example. Repeat it or separate by commas; '*' allows every page.
    #[arg(long = "cors-origin", env = "SQUALL_CORS_ORIGIN", value_name = "ORIGIN")]
    #[arg(value_delimiter = ',', value_parser = parse_origin)]
    pub(crate) cors_origins: Vec<String>,

    /// Host names that are answered on a loopback address, besides loopback ones. Repeat it
    /// or separate by commas. On any other address every host is answered.
    #[arg(long = "host", env = "SQUALL_HOST", value_name = "NAME")]
    #[arg(value_delimiter = ',', value_parser = parse_host)]
    pub(crate) hosts: Vec<String>,
}

impl ListenArgs {
    /// Whether only this machine can connect.
    pub(crate) fn is_loopback(&self) -> bool {
        self.listen.ip().to_canonical().is_loopback()
    }
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|error: AddrParseError| {
        format!("{error}; write an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080")
    })
}

fn parse_origin(text: &str) -> Result<String, String> {
    match text.parse::<OriginRule>() {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn parse_host(text: &str) -> Result<String, &'static str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let named = !text.is_empty() && text.bytes().all(plain);
    // An IPv6 address is compared without its brackets.
    let address = text.trim_matches(['[', ']']);
    match address.parse::<IpAddr>() {
        Ok(_) => Ok(address.to_owned()),
        Err(_) if named => Ok(text.to_owned()),
        Err(_) => Err("write a host name alone, without scheme and port, such as events.example"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_needs_a_port() {
        assert!(parse_address("[::1]:0").is_ok());
        for text in ["localhost:8080", "127.0.0.1", ":8080", "", "127.0.0.1:99999"] {
            assert!(parse_address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn hosts_are_names_without_ports() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(parse_host(text).ok().as_deref(), expected, "{text}");
        };
        check("events.example", Some("events.example"));
        check("10.0.0.1", Some("10.0.0.1"));
        check("[fd00::1]", Some("fd00::1"));
        check("events.example:8080", None);
        check("http://events.example", None);
        check("", None);
        check("a b", None);
    }
}
