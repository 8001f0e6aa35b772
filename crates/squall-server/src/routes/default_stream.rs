//! The simple face: `/` and `/stream`, on the stream called `default`.

use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use squall_stream::request::{Append, AppendError, Newest, StoreError, StreamError};
use squall_stream::store::Lookup;
use squall_stream::{ContentKind, ContentType, json};

use crate::context::Context;
use crate::door::{Answer, Reply, Request, SMALL_BYTES_MAX};
use crate::pages::Patience;
use crate::problem::{ErrorCode, Problem};
use crate::routes::live::{self, Followed};
use crate::routes::router::{later, waiting};

/// Times that an append looks for the type of a stream that others delete and create anew.
const TYPE_TRIES_MAX: usize = 4;

/// `GET /`: the newest event.
pub(crate) fn newest(context: &Arc<Context>) -> Answer {
    match context.store.newest(&context.default_stream) {
        Lookup::Ready(found) if !is_large(&found) => Answer::Ready(newest_reply(found)),
        Lookup::Ready(found) => later(large_newest(Arc::clone(context), found)),
        Lookup::Later(future) => {
            let context = Arc::clone(context);
            later(async move { large_newest(context, future.await).await })
        }
    }
}

fn is_large(found: &Result<Option<Newest>, StoreError>) -> bool {
    matches!(found, Ok(Some(newest)) if newest.payload.len() > SMALL_BYTES_MAX)
}

/// A large event counts as a page for as long as it is being sent: a peer that does not
/// read would keep it in memory, also when it is the newest no longer.
async fn large_newest(
    context: Arc<Context>,
    found: Result<Option<Newest>, StoreError>,
) -> Result<Reply, Problem> {
    let Ok(Some(Newest { content_type, payload })) = found else {
        return Ok(newest_reply(found));
    };
    let permit = context.pages.take(payload.len(), Patience::Limited).await?;
    let payload = permit.hold_bytes(payload);
    Ok(newest_reply(Ok(Some(Newest { content_type, payload }))))
}

/// The newest event, if there is one and it is in memory.
pub(crate) fn recall(context: &Context) -> Option<Newest> {
    match context.store.newest(&context.default_stream) {
        Lookup::Ready(Ok(newest)) => newest,
        Lookup::Ready(Err(_)) | Lookup::Later(_) => None,
    }
}

pub(crate) fn newest_reply(found: Result<Option<Newest>, StoreError>) -> Reply {
    match found {
        Ok(Some(newest)) => Reply::new(StatusCode::OK)
            .header(CONTENT_TYPE, content_type_value(&newest.content_type))
            .header(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
            .whole(newest.payload),
        Ok(None) => Reply::new(StatusCode::NO_CONTENT)
            .header(CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        Err(error) => Problem::from(error).reply(),
    }
}

/// A stream's content type as a header value; the usual one without a copy.
pub(crate) fn content_type_value(content_type: &ContentType) -> HeaderValue {
    match content_type.as_str() {
        "text/plain" => HeaderValue::from_static("text/plain"),
        "application/json" => HeaderValue::from_static("application/json"),
        // Printable ASCII, as every ContentType is.
        other => HeaderValue::from_str(other)
            .unwrap_or(HeaderValue::from_static("application/octet-stream")),
    }
}

/// `POST /`: appends the body as one event.
pub(crate) fn append(context: &Arc<Context>, request: Request) -> Answer {
    let context = Arc::clone(context);
    later(async move {
        let config = &context.config;
        let read =
            request.body.read(config.event_bytes_max, config.body_pause_max, &context.bodies);
        let (body, _permit) = read.await?;
        if body.is_empty() {
            return Err(Problem::new(ErrorCode::EmptyBody, "the body is empty"));
        }
        append_body(&context, body).await.map_err(Problem::without_headers)?;
        Ok(Reply::new(StatusCode::OK)
            .header(CONTENT_TYPE, HeaderValue::from_static("text/plain"))
            .whole(Bytes::from_static(b"Success")))
    })
}

/// Appends as the stream's own type, which is found out by trying.
async fn append_body(context: &Context, body: Bytes) -> Result<(), Problem> {
    let lock = &context.default_type;
    let learn = |found| *lock.write().unwrap_or_else(PoisonError::into_inner) = found;
    for _ in 0..TYPE_TRIES_MAX {
        let content_type = lock.read().unwrap_or_else(PoisonError::into_inner).clone();
        let create = content_type.as_str() == "text/plain";
        let events = match events(&content_type, &body, context.config.json_elements_max) {
            Ok(events) => events,
            Err(problem) => {
                learn(other_type(context, &content_type).await?.ok_or(problem)?);
                continue;
            }
        };
        let append =
            Append { create, ..Append::new(context.default_stream.clone(), content_type, events) };
        match context.store.append(append).await {
            Ok(_) => return Ok(()),
            Err(AppendError::ContentTypeMismatch { expected }) => learn(expected),
            // Deleted since its type was learnt: it is created as text.
            Err(AppendError::NotFound) => learn(ContentType::text_plain()),
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::new(ErrorCode::Overloaded, "the stream's type keeps changing"))
}

/// What `body` appends to a stream of this type.
fn events(
    content_type: &ContentType,
    body: &Bytes,
    elements_max: usize,
) -> Result<Vec<Bytes>, Problem> {
    match content_type.kind() {
        ContentKind::Json => json_events(body, elements_max),
        ContentKind::Text | ContentKind::Binary => Ok(vec![body.clone()]),
    }
}

/// The type that the stream has now, or is created with, if that is not `learnt`: a body
/// must not be refused for the type of a stream that is gone.
async fn other_type(
    context: &Context,
    learnt: &ContentType,
) -> Result<Option<ContentType>, Problem> {
    let found = match context.store.describe(context.default_stream.clone()).await {
        Ok(info) => info.content_type,
        Err(StreamError::NotFound) => ContentType::text_plain(),
        Err(error) => return Err(error.into()),
    };
    Ok((!found.matches(learnt)).then_some(found))
}

/// The events of a JSON body, of which there must be at least one.
pub(crate) fn json_events(body: &Bytes, elements_max: usize) -> Result<Vec<Bytes>, Problem> {
    let events = json::elements(body, elements_max)?;
    if events.is_empty() {
        return Err(Problem::new(ErrorCode::EmptyBody, "the array is empty"));
    }
    Ok(events)
}

/// `GET /stream`: follows, waiting for the stream if there is none.
pub(crate) fn follow(context: &Arc<Context>, request: Request) -> Answer {
    let context = Arc::clone(context);
    waiting(async move {
        let name = context.default_stream.clone();
        live::events(&context, &request, Followed { name, awaits: true, plain: true }).await
    })
}
