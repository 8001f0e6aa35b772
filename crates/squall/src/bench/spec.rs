//! Options into a load.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use squall_load::schedule::Arrivals;
use squall_load::spec::{
    Expectations, Family, FollowSpec, Length, LoadSpec, NetworkSpec, RequestSpec, WarmUp,
};

use super::bodies;
use crate::cli::{BenchArgs, CheckArgs, LoadArgs, NetworkArgs, RequestArgs, WarmUpArg};
use crate::exit::Failure;
use crate::value::ByteSize;

/// Methods of HTTP that a load can be made of (RFC 9110 §9.3, RFC 5789).
const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];

/// The load that the options ask for.
pub(super) fn spec(args: &BenchArgs) -> Result<LoadSpec, Failure> {
    let (load, network) = (&args.load, &args.network);
    let arrivals = Arrivals::parse(load.rate.as_deref(), load.arrivals.as_deref())
        .map_err(|error| Failure::usage(error.to_string()))?;
    if load.connections == 0 && arrivals.is_some() {
        return Err(Failure::usage(
            "--connections 0 sends no requests; leave --rate and --arrivals out",
        ));
    }
    Ok(LoadSpec {
        requests: requests(&args.requests)?,
        headers: headers(&args.requests)?,
        body: bodies::body(&args.requests)?,
        http10: args.requests.http10,
        keep_alive: !network.no_keepalive,
        requests_per_connection: network.requests_per_connection.map(|count| count as u64),
        connections: load.connections,
        threads: load.threads,
        pipeline: load.pipeline,
        arrivals,
        seed: load.seed.unwrap_or_else(any_seed),
        length: load.requests.map_or(Length::Time(load.duration), |n| Length::Requests(n as u64)),
        warm_up: match load.warm_up {
            None => WarmUp::None,
            Some(WarmUpArg::For(length)) => WarmUp::For(length),
            Some(WarmUpArg::Steady) => WarmUp::Steady,
        },
        expect: expectations(&args.checks),
        timeout: network.timeout,
        connect_timeout: network.connect_timeout,
        follow: follow(load),
        network: network_spec(network),
        pin: load.pin_generator.as_ref().map_or_else(Vec::new, |cpus| cpus.0.clone()),
        server_pid: network.server_pid,
    })
}

fn requests(args: &RequestArgs) -> Result<Vec<RequestSpec>, Failure> {
    if !args.weights.is_empty() && args.weights.len() != args.urls.len() {
        return Err(Failure::usage(format!(
            "--weights has {} numbers for {} URLs; write one for each",
            args.weights.len(),
            args.urls.len()
        )));
    }
    let weight = |index| args.weights.get(index).and_then(|weight| u32::try_from(*weight).ok());
    let request = |(index, text): (usize, &String)| {
        let (own, url) = split_method(text);
        Ok(RequestSpec {
            method: own.or(args.method.as_deref()).map(method).transpose()?,
            url: url.to_owned(),
            weight: weight(index).unwrap_or(1),
        })
    };
    args.urls.iter().enumerate().map(request).collect()
}

/// Methods are spelled in one way only (RFC 9110 §9.1); another spelling is a method that no
/// server knows, and hardly what was meant.
fn method(text: &str) -> Result<String, Failure> {
    match METHODS.into_iter().find(|known| known.eq_ignore_ascii_case(text)) {
        Some(known) if known != text => {
            Err(Failure::usage(format!("{text:?} is not how a method is spelled; write {known}")))
        }
        _ => Ok(text.to_owned()),
    }
}

/// Takes `METHOD,URL` apart; a URL may hold commas of its own.
fn split_method(text: &str) -> (Option<&str>, &str) {
    match text.split_once(',') {
        Some((method, url)) if method.bytes().all(|b| b.is_ascii_alphabetic()) => {
            (Some(method), url)
        }
        _ => (None, text),
    }
}

fn headers(args: &RequestArgs) -> Result<Vec<(String, String)>, Failure> {
    let mut headers = args.headers.clone();
    let authorization = match (&args.basic_auth, &args.bearer) {
        (Some(pair), _) if !pair.contains(':') => {
            return Err(Failure::usage("--basic-auth takes a name, a colon and a password"));
        }
        (Some(pair), _) => Some(format!("Basic {}", STANDARD.encode(pair))),
        (None, Some(token)) => Some(format!("Bearer {token}")),
        (None, None) => None,
    };
    let has_own = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("Authorization"));
    if authorization.is_some() && has_own {
        return Err(Failure::usage(
            "--basic-auth and --bearer make the header Authorization; leave out the one of --header",
        ));
    }
    headers.extend(authorization.map(|value| ("Authorization".to_owned(), value)));
    Ok(headers)
}

fn expectations(args: &CheckArgs) -> Expectations {
    let bytes = |text: &String| text.clone().into_bytes();
    Expectations {
        status: args.expect_status.clone(),
        body: args.expect_body.as_ref().map(bytes),
        body_contains: args.expect_body_contains.as_ref().map(bytes),
        bytes: args.expect_bytes.map(|ByteSize(bytes)| bytes),
    }
}

fn follow(args: &LoadArgs) -> Option<FollowSpec> {
    args.follow.as_ref().map(|url| FollowSpec {
        url: url.clone(),
        followers: args.followers.unwrap_or(1),
        slow_followers: args.slow_followers,
        match_text: args.follow_match.clone(),
    })
}

fn network_spec(args: &NetworkArgs) -> NetworkSpec {
    NetworkSpec {
        tls_insecure: args.tls_insecure,
        ca: args.ca.clone(),
        sni: args.sni.clone(),
        unix_socket: args.unix_socket.clone(),
        connect_to: args.connect_to,
        family: match (args.ipv4, args.ipv6) {
            (true, _) => Family::V4,
            (_, true) => Family::V6,
            _ => Family::Any,
        },
    }
}

/// A seed that no other run has; small enough to be read exactly by any reader of JSON.
fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (u64::from(now.subsec_nanos()) << 20 ^ u64::from(std::process::id())) & ((1 << 53) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_may_stand_before_a_url() {
        assert_eq!(split_method("POST,http://h/"), (Some("POST"), "http://h/"));
        assert_eq!(split_method("http://h/?a=1,2"), (None, "http://h/?a=1,2"));
    }
}
