//! `live=long-poll`: waits for the next events, up to a time limit.

use std::sync::Arc;

use http::header::CACHE_CONTROL;
use http::{HeaderValue, StatusCode};
use squall_stream::request::ReadTarget;
use squall_stream::{Page, ReadFrom, StreamName};

use crate::context::{Context, Counters};
use crate::cursor::next_cursor;
use crate::door::{Reply, Request};
use crate::follow::{Cursor, Membership, Waited, wait_behind};
use crate::headers::{STREAM_CLOSED, STREAM_CURSOR, STREAM_NEXT_OFFSET, STREAM_UP_TO_DATE};
use crate::pages::PagePermit;
use crate::problem::{ErrorCode, Problem};
use crate::query::Query;
use crate::routes::catch_up::{offset, read, with_page};

pub(crate) async fn long_poll(
    context: Arc<Context>,
    request: Request,
    name: StreamName,
) -> Result<Reply, Problem> {
    Counters::count(&context.counters.long_polls);
    let query = Query::parse(request.uri.query())?;
    let from = offset(&query)?.ok_or_else(|| {
        Problem::new(ErrorCode::BadOffset, "live=long-poll needs an offset, such as offset=now")
    })?;
    let cursor = next_cursor(query.number("cursor")?);
    let (page, permit) = read(&context, ReadTarget::Name(name), from).await?;
    if !page.entries.is_empty() || page.ends_stream() {
        return Ok(reply(page, permit, cursor));
    }
    drop(permit);
    let (page, permit) = wait(&context, page).await?;
    Ok(reply(page, permit, cursor))
}

/// Waits until something lies behind `page`, which ends at the tail, and reads it.
async fn wait(context: &Context, page: Page) -> Result<(Page, PagePermit), Problem> {
    let Some(permit) = context.hub.admit() else {
        Counters::count(&context.counters.refused_followers);
        let detail = "as many clients follow or wait as may";
        return Err(Problem::new(ErrorCode::TooManyFollowers, detail));
    };
    let (stream, at) = (page.stream, page.next);
    let deadline = tokio::time::Instant::now() + context.config.long_poll_max;
    let mut membership = Membership::new(permit);
    membership.join(stream);
    loop {
        // Read after joining: what was appended before is here, what comes later wakes us.
        let (page, permit) = read(context, ReadTarget::Id(stream), ReadFrom::At(at)).await?;
        if !page.entries.is_empty() || page.ends_stream() {
            return Ok((page, permit));
        }
        membership.observe_tail(page.tail);
        let waited = tokio::time::timeout_at(deadline, wait_behind(&membership, at)).await;
        if !matches!(waited, Ok(Waited::Changed)) {
            return Ok((page, permit));
        }
    }
}

fn reply(page: Page, permit: PagePermit, cursor: Cursor) -> Reply {
    let no_store = HeaderValue::from_static("no-store");
    if page.entries.is_empty() {
        let yes = HeaderValue::from_static("true");
        let reply = Reply::new(StatusCode::NO_CONTENT)
            .header(CACHE_CONTROL, no_store)
            .text_header(STREAM_NEXT_OFFSET, &page.next.to_string())
            .header(STREAM_UP_TO_DATE, yes.clone())
            .header(STREAM_CURSOR, HeaderValue::from(cursor.0));
        return if page.ends_stream() { reply.header(STREAM_CLOSED, yes) } else { reply };
    }
    let reply = Reply::new(StatusCode::OK)
        .header(CACHE_CONTROL, no_store)
        .header(STREAM_CURSOR, HeaderValue::from(cursor.0));
    with_page(reply, page, permit)
}
