//! What is sent, and what a reply must be.

use std::path::PathBuf;

use clap::ArgGroup;
use squall_load::spec::StatusPattern;

use crate::value::{ByteSize, bytes, count};

const TIB: u64 = 1 << 40;

/// Options of requests.
#[derive(Clone, Debug, clap::Args)]
#[command(group = ArgGroup::new("bodies").multiple(false))]
#[command(group = ArgGroup::new("authorization").multiple(false))]
pub(crate) struct RequestArgs {
    /// What to load: http:// or https:// URLs of one server, or METHOD,URL such as
    /// POST,http://127.0.0.1:8080/.
    #[arg(value_name = "URL", required = true)]
    pub(crate) urls: Vec<String>,

    /// Method of every URL that does not name its own. By default GET, or POST with a body.
    #[arg(short = 'X', long, value_name = "METHOD")]
    pub(crate) method: Option<String>,

    /// Header of every request, such as 'Accept: application/json'. Repeat it for more.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = parse_header)]
    pub(crate) headers: Vec<(String, String)>,

    /// Body of every request, in a mix of those that are not GET or HEAD. In it, in URLs and in
    /// header values {{seq}}, {{seq:START}}, {{random:A..B}} and {{now_ns}} are filled in, each
    /// with a fixed number of digits.
    #[arg(short, long, value_name = "TEXT", group = "bodies", allow_hyphen_values = true)]
    pub(crate) body: Option<String>,

    /// File whose bytes are the body of every request, as they are.
    #[arg(short = 'f', long, value_name = "FILE", group = "bodies")]
    pub(crate) body_file: Option<PathBuf>,

    /// File whose lines are the bodies of requests, one after the other and again.
    #[arg(long, value_name = "FILE", group = "bodies")]
    pub(crate) body_lines: Option<PathBuf>,

    /// Bodies of this many bytes that tell who sent them, as which, and when: followers that
    /// get them back measure delivery times and find what is lost, repeated or out of order.
    #[arg(long, value_name = "BYTES", group = "bodies", value_parser = count(63, 1 << 20))]
    pub(crate) body_stamp: Option<usize>,

    /// How often each URL is sent beside the others, such as 9,1.
    #[arg(long, value_name = "WEIGHTS", value_delimiter = ',', value_parser = count(1, 1_000_000))]
    pub(crate) weights: Vec<usize>,

    /// Authenticate with a name and a password.
    #[arg(long, value_name = "USER:PASSWORD", group = "authorization")]
    pub(crate) basic_auth: Option<String>,

    /// Authenticate with a bearer token.
    #[arg(long, value_name = "TOKEN", group = "authorization")]
    pub(crate) bearer: Option<String>,

    /// Send HTTP/1.0.
    #[arg(long = "http1.0")]
    pub(crate) http10: bool,
}

/// Options of checks. A reply that does not pass is a failure, not throughput.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Statuses that pass: codes or classes, such as 200,404 or 2xx. By default 2xx and 3xx.
    #[arg(long, value_name = "STATUSES", value_delimiter = ',', value_parser = parse_status)]
    pub(crate) expect_status: Vec<StatusPattern>,

    /// The body that passes.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) expect_body: Option<String>,

    /// A part of every body that passes.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) expect_body_contains: Option<String>,

    /// The length in bytes of every body that passes.
    #[arg(long, value_name = "BYTES", value_parser = bytes(0, TIB))]
    pub(crate) expect_bytes: Option<ByteSize>,
}

fn parse_header(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write a name, a colon and a value, such as 'Accept: text/plain'"),
    }
}

fn parse_status(text: &str) -> Result<StatusPattern, &'static str> {
    const WRONG: &str = "write a status from 100 to 599, or a class such as 2xx";
    let is_status = |status: &u16| (100..600).contains(status);
    if let Some(class) = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX")) {
        let class = class.parse().ok().filter(|class| (1..6).contains(class));
        return class.map(StatusPattern::Class).ok_or(WRONG);
    }
    // A number may have a sign, a status none.
    let code = text.parse().ok().filter(is_status).filter(|_| text.len() == 3);
    code.map(StatusPattern::Code).ok_or(WRONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_codes_or_classes() {
        assert_eq!(parse_status("200"), Ok(StatusPattern::Code(200)));
        assert_eq!(parse_status("5XX"), Ok(StatusPattern::Class(5)));
        for text in ["", "xx", "0xx", "6xx", "99", "600", "2x", "ok", "200-299", "+200", "0200"] {
            assert!(parse_status(text).is_err(), "{text}");
        }
    }

    #[test]
    fn headers_have_a_name_and_a_value() {
        let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(parse_header("Accept: a/b"), pair("Accept", "a/b"));
        assert_eq!(parse_header("X:a:b"), pair("X", "a:b"));
        assert_eq!(parse_header("X-Empty:"), pair("X-Empty", ""));
        assert!(parse_header("Accept").is_err() && parse_header(": x").is_err());
    }
}
