//! For the fuzz target: what is read of a request before a store is asked.
//!
//! Takes whole requests, does no IO, and is no part of the server's face.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use squall_stream::{ContentKind, ContentType, StreamName, json};

use crate::access::{Host, HostRule, OriginRule, host_of, is_own};
use crate::door::Head;
use crate::headers::{asks_to_close, producer, single, stream_seq};
use crate::query::Query;
use crate::routes::{catch_up, create, live, stream};

/// What a request was read as; none of what could not be read.
#[derive(Debug)]
pub struct Read {
    /// The stream that its path names.
    pub name: Option<StreamName>,
    /// The events in its body.
    pub events: Option<Vec<Bytes>>,
}

/// Reads a request in every way in which a route might.
pub fn read(request: &http::Request<Bytes>, elements_max: usize) -> Read {
    let headers = request.headers();
    let head =
        Head { method: request.method(), uri: request.uri(), version: request.version(), headers };
    access(&head);
    if let Ok(query) = Query::parse(request.uri().query()) {
        for name in ["limit", "cursor", "after", "prefix", "live"] {
            drop((query.single(name), query.number(name)));
        }
        drop((catch_up::offset(&query), live::last_event_id(headers, &query)));
    }
    drop((producer(headers), stream_seq(headers), create::expiry(headers)));
    asks_to_close(headers);
    let path = request.uri().path();
    let name = path.strip_prefix("/v1/stream/").and_then(|encoded| stream::decode(encoded).ok());
    Read { name, events: events(request, elements_max) }
}

fn access(head: &Head<'_>) {
    let rule = HostRule { loopback_only: true, named: vec!["events.example".to_owned()] };
    if let Host::Named(host) = host_of(head) {
        rule.allows(host);
        for origin in head.headers.get_all(http::header::ORIGIN) {
            let text = origin.to_str().unwrap_or_default();
            let _known = OriginRule::loopback().allows(text) || is_own(text, host);
        }
    }
}

fn events(request: &http::Request<Bytes>, elements_max: usize) -> Option<Vec<Bytes>> {
    let content_type = single(request.headers(), &CONTENT_TYPE).ok()??;
    match ContentType::parse(content_type).ok()?.kind() {
        ContentKind::Json => json::elements(request.body(), elements_max).ok(),
        ContentKind::Text | ContentKind::Binary => Some(vec![request.body().clone()]),
    }
}
