//! `GET /v1/stream/{name}`: stored events, a page at a time.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use squall_stream::offset::OffsetError;
use squall_stream::request::{Read, ReadTarget};
use squall_stream::{ContentKind, Page, ReadFrom, StreamName, json};

use crate::context::Context;
use crate::door::{Reply, Request};
use crate::headers::{STREAM_CLOSED, STREAM_NEXT_OFFSET, STREAM_UP_TO_DATE};
use crate::pages::{PagePermit, Patience};
use crate::problem::{ErrorCode, Problem};
use crate::query::Query;
use crate::routes::default_stream::content_type_value;

pub(crate) async fn catch_up(
    context: Arc<Context>,
    request: Request,
    name: StreamName,
) -> Result<Reply, Problem> {
    let query = Query::parse(request.uri.query())?;
    let from = offset(&query)?.unwrap_or(ReadFrom::Start);
    let target = ReadTarget::Name(name);
    let (page, permit) = read(&context, target, from).await?;
    // What now and last mean changes from one moment to the next: nothing to cache.
    let fixed = matches!(from, ReadFrom::Start | ReadFrom::At(_));
    let reply = Reply::new(StatusCode::OK);
    let reply = if fixed { cached(reply, &page)? } else { no_store(reply) };
    if fixed && is_known(&request.headers, &reply) {
        return Ok(Reply { status: StatusCode::NOT_MODIFIED, ..reply });
    }
    Ok(with_page(reply, page, permit))
}

pub(crate) async fn read(
    context: &Context,
    target: ReadTarget,
    from: ReadFrom,
) -> Result<(Page, PagePermit), Problem> {
    let bytes_max = context.config.page_bytes_max;
    let read = Read { target, from, bytes_max };
    Ok(context.pages.read(&*context.store, read, bytes_max, Patience::Limited).await?)
}

/// The `offset` parameter, if it is given.
pub(crate) fn offset(query: &Query<'_>) -> Result<Option<ReadFrom>, Problem> {
    let text = query
        .single("offset")
        .map_err(|_twice| Problem::new(ErrorCode::BadOffset, "offset is given more than once"))?;
    text.map(str::parse).transpose().map_err(|error: OffsetError| error.into())
}

fn cached(reply: Reply, page: &Page) -> Result<Reply, Problem> {
    let control = match page.entries.is_empty() {
        // Found again by asking: the next event may come at any time.
        true => "no-cache",
        // What these bytes are never changes; what follows them is asked for by its own offset.
        false => "public, max-age=60, stale-while-revalidate=300",
    };
    // The same bytes are another answer once they no longer reach the tail, or end there.
    let end = match (page.ends_stream(), page.up_to_date()) {
        (true, _) => ":c",
        (false, true) => ":t",
        (false, false) => "",
    };
    let (stream, start, next) = (page.stream.0, page.start, page.next);
    let tag = format!("\"{stream}:{start}:{next}{end}\"");
    Ok(reply
        .header(CACHE_CONTROL, HeaderValue::from_static(control))
        // A cache must not hand one origin's permission to another.
        .header(VARY, HeaderValue::from_static("origin"))
        .text_header(ETAG, &tag))
}

fn no_store(reply: Reply) -> Reply {
    reply.header(CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

/// Whether the client holds what `reply` would say.
fn is_known(headers: &HeaderMap, reply: &Reply) -> bool {
    let Some(tag) = reply.headers.get(ETAG) else {
        return false;
    };
    headers.get_all(IF_NONE_MATCH).iter().any(|value| {
        let mut listed = value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        listed.any(|one| one == b"*" || one.strip_prefix(b"W/").unwrap_or(one) == tag.as_bytes())
    })
}

/// Adds a page: its bytes, and where to go on.
pub(crate) fn with_page(reply: Reply, page: Page, permit: PagePermit) -> Reply {
    let mut reply = reply
        .header(CONTENT_TYPE, content_type_value(&page.content_type))
        .text_header(STREAM_NEXT_OFFSET, &page.next.to_string());
    let yes = HeaderValue::from_static("true");
    if page.up_to_date() {
        reply = reply.header(STREAM_UP_TO_DATE, yes.clone());
    }
    if page.ends_stream() {
        reply = reply.header(STREAM_CLOSED, yes);
    }
    match page.content_type.kind() {
        ContentKind::Json => reply.whole(permit.hold(json_array(&page).into())),
        ContentKind::Text | ContentKind::Binary if page.data.is_empty() => {
            reply.whole(Bytes::new())
        }
        ContentKind::Text | ContentKind::Binary => reply.whole(permit.hold_bytes(page.data)),
    }
}

fn json_array(page: &Page) -> BytesMut {
    let mut array = BytesMut::with_capacity(page.data.len() + page.entries.len() + 2);
    json::array(page.events().map(|event| event.payload), |bytes| array.extend_from_slice(bytes));
    array
}
