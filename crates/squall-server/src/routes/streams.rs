//! `GET /v1/streams`: the streams there are.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use squall_stream::expiry;
use squall_stream::request::{List, StreamInfo};

use crate::context::Context;
use crate::door::{Answer, Reply, Request};
use crate::problem::{ErrorCode, Problem};
use crate::query::Query;
use crate::routes::router::{later, now};

/// Streams in one answer if the request does not say.
const LIMIT_DEFAULT: usize = 100;
/// Streams in one answer at most.
const LIMIT_MAX: usize = 1_000;

#[derive(Serialize)]
struct Listed {
    streams: Vec<Entry>,
    next: Option<String>,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    content_type: String,
    tail: String,
    bytes: u64,
    events: u64,
    closed: bool,
    created_at: String,
}

impl From<&StreamInfo> for Entry {
    fn from(info: &StreamInfo) -> Self {
        Self {
            name: info.name.to_string(),
            content_type: info.content_type.to_string(),
            tail: info.tail.to_string(),
            bytes: info.bytes,
            events: info.events,
            closed: info.closed,
            created_at: expiry::rfc3339(info.created_at),
        }
    }
}

pub(crate) fn list(context: &Arc<Context>, request: &Request) -> Answer {
    let list = match asked(request) {
        Ok(list) => list,
        Err(problem) => return now(Err(problem)),
    };
    let context = Arc::clone(context);
    later(async move {
        let listing = context.store.list(list).await?;
        let streams = listing.streams.iter().map(Entry::from).collect();
        // Strings and numbers: this cannot fail.
        let body = serde_json::to_vec(&Listed { streams, next: listing.next }).unwrap_or_default();
        Ok(Reply::new(StatusCode::OK)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(CACHE_CONTROL, HeaderValue::from_static("no-store"))
            .whole(Bytes::from(body)))
    })
}

fn asked(request: &Request) -> Result<List, Problem> {
    let query = Query::parse(request.uri.query())?;
    let limit = query.number("limit")?.map_or(Ok(LIMIT_DEFAULT), |limit| {
        let limit = usize::try_from(limit).ok().filter(|limit| (1..=LIMIT_MAX).contains(limit));
        limit.ok_or_else(|| {
            Problem::new(ErrorCode::BadQuery, format!("limit must lie between 1 and {LIMIT_MAX}"))
        })
    })?;
    let prefix = query.single("prefix")?.unwrap_or_default().to_owned();
    let after = query.single("after")?.map(str::to_owned);
    Ok(List { prefix, after, limit })
}
