//! The guard: hosts, origins, and the headers that every reply carries.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, ORIGIN, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, Method, StatusCode, Version};

use crate::access::{Host, host_of, is_own};
use crate::context::{Context, Counters};
use crate::door::{Answer, Head, Reply, Request};
use crate::headers::{ACCEPTED, CROSS_ORIGIN_RESOURCE_POLICY, EXPOSED};
use crate::problem::{ErrorCode, Problem};

const REQUEST_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

/// Bytes are what their content type says, also to a browser that would rather guess.
pub(crate) const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");

static ANY: HeaderValue = HeaderValue::from_static("*");

/// A request that may be answered, and how its origin is told so.
pub(crate) struct Guard {
    /// The origin that may read the reply.
    origin: Option<HeaderValue>,
    /// Whether the origin rule allows every origin.
    any_origin: bool,
    /// Whether the reply belongs to the protocol, whose headers it carries then.
    is_protocol: bool,
}

impl Guard {
    /// Holds host and origin of `request` against the rules.
    pub(crate) fn check(context: &Context, head: Head<'_>) -> Result<Self, Box<Reply>> {
        let mut guard = Self {
            origin: None,
            any_origin: context.config.origins.allows_any(),
            is_protocol: head.uri.path().starts_with("/v1/"),
        };
        match guard.examine(context, &head) {
            Ok(()) => Ok(guard),
            Err(problem) => Err(Box::new(guard.finish(problem.reply()))),
        }
    }

    fn examine(&mut self, context: &Context, head: &Head<'_>) -> Result<(), Problem> {
        let host = host(head)?;
        if let Some(host) = host.filter(|host| !context.config.hosts.allows(host)) {
            Counters::count(&context.counters.refused_hosts);
            let detail = format!("this server does not answer for {host:?}");
            return Err(Problem::new(ErrorCode::ForeignHost, detail));
        }
        let Some(origin) = head.headers.get(ORIGIN) else {
            return Ok(());
        };
        let text = origin.to_str().unwrap_or_default();
        if context.config.origins.allows(text) {
            self.origin = Some(origin.clone());
            return Ok(());
        }
        let own = host.is_some_and(|host| is_own(text, host));
        let safe = matches!(*head.method, Method::GET | Method::HEAD | Method::OPTIONS);
        if own || safe {
            return Ok(()); // A browser keeps the reply from a foreign page by itself.
        }
        Counters::count(&context.counters.refused_origins);
        let detail = format!("pages of {text:?} may not change streams here");
        Err(Problem::new(ErrorCode::ForeignOrigin, detail))
    }

    /// The reply to OPTIONS, which is never refused: it only says what is allowed.
    pub(crate) fn preflight(&self, request: &Request, methods: &'static str) -> Reply {
        let methods = HeaderValue::from_static(methods);
        let mut reply = Reply::new(StatusCode::NO_CONTENT).header(ALLOW, methods.clone());
        if self.origin.is_some() {
            reply = reply
                .header(ACCESS_CONTROL_ALLOW_METHODS, methods)
                .header(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ACCEPTED))
                .header(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
            if request.headers.contains_key(REQUEST_PRIVATE_NETWORK) {
                reply = reply.header(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
            }
        }
        self.finish(reply)
    }

    /// Adds to an answer what every reply carries.
    pub(crate) fn around(self, answer: Answer) -> Answer {
        match answer {
            Answer::Ready(reply) => Answer::Ready(self.finish(reply)),
            Answer::Later(future) => {
                Answer::Later(Box::pin(async move { self.finish(future.await) }))
            }
            Answer::Waiting(future) => {
                Answer::Waiting(Box::pin(async move { self.finish(future.await) }))
            }
        }
    }

    fn finish(&self, mut reply: Reply) -> Reply {
        let headers = &mut reply.headers;
        headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        if self.is_protocol {
            let policy = if self.any_origin { "cross-origin" } else { "same-origin" };
            headers.insert(CROSS_ORIGIN_RESOURCE_POLICY, HeaderValue::from_static(policy));
        }
        if let Some(origin) = &self.origin {
            let allowed = if self.any_origin { &ANY } else { origin };
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed.clone());
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        }
        reply
    }
}

/// The host that a request names; none is allowed before HTTP/1.1.
fn host<'a>(head: &Head<'a>) -> Result<Option<&'a str>, Problem> {
    let bad = |detail: &str| Err(Problem::new(ErrorCode::BadHost, detail));
    match host_of(head) {
        Host::Named(host) => Ok(Some(host)),
        Host::Unnamed if head.version < Version::HTTP_11 => Ok(None),
        Host::Unnamed => bad("the request has no Host header"),
        Host::Malformed => bad("the request has several Host headers, or one that is no host"),
    }
}
