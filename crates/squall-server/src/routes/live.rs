//! Follows over Server-Sent Events: `live=sse`, `live=events` and `/stream`.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use rand::RngExt;
use squall_stream::request::{Read, ReadError, ReadTarget};
use squall_stream::{ContentKind, Offset, Page, ReadFrom, StreamName};
use squall_wire::sse::encode;

use crate::context::{Context, Counters};
use crate::cursor::next_cursor;
use crate::door::{Reply, Request};
use crate::follow::{Dialect, FRAME_BYTES_MAX, Follow, FollowStart, RETRY_MS, View};
use crate::headers::{LAST_EVENT_ID, STREAM_SSE_DATA_ENCODING, X_ACCEL_BUFFERING};
use crate::pages::{PageError, PagePermit, Patience};
use crate::problem::{ErrorCode, Problem};
use crate::query::Query;
use crate::routes::catch_up::offset;

/// What is followed as plain events.
pub(crate) struct Followed {
    pub(crate) name: StreamName,
    /// Wait for the stream if there is none.
    pub(crate) awaits: bool,
    /// Leave out the protocol's headers.
    pub(crate) plain: bool,
}

/// `live=sse`: the protocol's own framing.
pub(crate) async fn sse(
    context: &Arc<Context>,
    request: &Request,
    name: StreamName,
) -> Result<Reply, Problem> {
    let query = Query::parse(request.uri.query())?;
    let given = offset(&query)?;
    let from = match last_event_id(&request.headers, &query)? {
        Some(id) => ReadFrom::At(id.parse()?),
        None => given.ok_or_else(|| {
            Problem::new(ErrorCode::BadOffset, "live=sse needs an offset, such as offset=-1")
        })?,
    };
    let (page, permit) = match read(context, ReadTarget::Name(name), from).await {
        Err(error) if error.is_overload() => return Ok(send_away()),
        page => page?,
    };
    let kind = page.content_type.kind();
    let cursor = next_cursor(query.number("cursor")?);
    let view = View { dialect: Dialect::Sse, kind, cursor };
    let start = FollowStart::Page { page, permit, shows_start: false };
    Ok(with_encoding(follow(context, view, start), kind))
}

/// `live=events` and `/stream`: plain events for an EventSource.
pub(crate) async fn events(
    context: &Arc<Context>,
    request: &Request,
    followed: Followed,
) -> Result<Reply, Problem> {
    let query = Query::parse(request.uri.query())?;
    let given = offset(&query)?;
    let id = last_event_id(&request.headers, &query)?;
    let asked = Asked { from: given.unwrap_or(ReadFrom::Start), id: id.as_deref() };
    let view = |kind| View { dialect: Dialect::Events, kind, cursor: next_cursor(None) };
    let opened = match open(context, &followed.name, &asked).await {
        Err(PageError::Read(ReadError::NotFound)) if followed.awaits => {
            let start = FollowStart::Await { name: followed.name };
            return Ok(follow(context, view(ContentKind::Text), start));
        }
        Err(error) if error.is_overload() => return Ok(send_away()),
        opened => opened?,
    };
    // An EventSource that has seen the end is told to stop.
    if opened.is_end_seen {
        return Ok(Reply::new(StatusCode::NO_CONTENT)
            .header(CACHE_CONTROL, HeaderValue::from_static("no-store")));
    }
    let reply = follow(context, view(opened.kind), opened.start);
    Ok(if followed.plain { reply } else { with_encoding(reply, opened.kind) })
}

/// What a client of plain events asks for.
struct Asked<'a> {
    from: ReadFrom,
    /// The id of the last event that it has seen; overrides `from`.
    id: Option<&'a str>,
}

/// How a follow of plain events begins.
struct Opened {
    start: FollowStart,
    kind: ContentKind,
    /// The client has seen the end of the stream already.
    is_end_seen: bool,
}

async fn open(
    context: &Context,
    name: &StreamName,
    asked: &Asked<'_>,
) -> Result<Opened, PageError> {
    let resumed = asked.id.map(str::parse::<Offset>);
    let from = match resumed {
        Some(Ok(offset)) => ReadFrom::At(offset),
        Some(Err(_)) => return gap(context, name, asked).await,
        None => asked.from,
    };
    match read(context, ReadTarget::Name(name.clone()), from).await {
        Ok((page, permit)) => {
            let is_end_seen = resumed.is_some() && page.ends_stream() && page.entries.is_empty();
            let shows_start = matches!(from, ReadFrom::Now | ReadFrom::Last);
            let kind = page.content_type.kind();
            let start = FollowStart::Page { page, permit, shows_start };
            Ok(Opened { start, kind, is_end_seen })
        }
        Err(PageError::Read(ReadError::Trimmed { .. } | ReadError::BeyondTail { .. })) => {
            gap(context, name, asked).await
        }
        // A bad offset parameter is an error; a bad id comes from a browser, which would
        // give up on an error for good.
        Err(PageError::Read(ReadError::InsideEvent { .. })) if resumed.is_some() => {
            gap(context, name, asked).await
        }
        Err(error) => Err(error),
    }
}

/// Starts over from the earliest event, saying so.
async fn gap(context: &Context, name: &StreamName, asked: &Asked<'_>) -> Result<Opened, PageError> {
    let (page, _permit) = read(context, ReadTarget::Name(name.clone()), ReadFrom::Start).await?;
    let Page { stream, start: earliest, ref content_type, .. } = page;
    let requested = match (asked.id, asked.from) {
        (Some(id), _) => id.to_owned(),
        (None, ReadFrom::At(offset)) => offset.to_string(),
        (None, _) => String::new(),
    };
    let start = FollowStart::Gap { stream, requested, earliest };
    Ok(Opened { start, kind: content_type.kind(), is_end_seen: false })
}

async fn read(
    context: &Context,
    target: ReadTarget,
    from: ReadFrom,
) -> Result<(Page, PagePermit), PageError> {
    let read = Read { target, from, bytes_max: FRAME_BYTES_MAX };
    context.pages.read(&*context.store, read, FRAME_BYTES_MAX, Patience::Limited).await
}

/// The id of the last event that a client has seen: the header first, then the query,
/// which is all that a browser's first connection can send. An empty one is none.
pub(crate) fn last_event_id(
    headers: &HeaderMap,
    query: &Query<'_>,
) -> Result<Option<String>, Problem> {
    if let Some(value) = headers.get(LAST_EVENT_ID).filter(|value| !value.is_empty()) {
        return Ok(Some(String::from_utf8_lossy(value.as_bytes()).into_owned()));
    }
    let id = query.single("last_event_id")?.or(query.single("lastEventID")?);
    Ok(id.filter(|id| !id.is_empty()).map(str::to_owned))
}

/// A reply that follows, or that sends the client away if as many follow as may.
fn follow(context: &Arc<Context>, view: View, start: FollowStart) -> Reply {
    let Some(permit) = context.hub.admit() else {
        Counters::count(&context.counters.refused_followers);
        return send_away();
    };
    Counters::count(&context.counters.follows);
    let (store, pages) = (Arc::clone(&context.store), Arc::clone(&context.pages));
    event_stream().follow(Follow::new(store, pages, permit, view, start))
}

/// Tells the client when to connect again, and ends: an EventSource gives up for good on
/// any status but 200.
fn send_away() -> Reply {
    let mut body = Vec::new();
    encode::retry_only(&mut body, rand::rng().random_range(RETRY_MS));
    event_stream().whole(Bytes::from(body))
}

fn event_stream() -> Reply {
    Reply::new(StatusCode::OK)
        .header(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"))
        .header(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"))
        .header(X_ACCEL_BUFFERING, HeaderValue::from_static("no"))
}

fn with_encoding(reply: Reply, kind: ContentKind) -> Reply {
    match kind {
        ContentKind::Binary => {
            reply.header(STREAM_SSE_DATA_ENCODING, HeaderValue::from_static("base64"))
        }
        ContentKind::Json | ContentKind::Text => reply,
    }
}
