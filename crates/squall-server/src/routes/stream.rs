//! `/v1/stream/{name}`: one stream of the Durable Streams protocol.

use std::sync::Arc;

use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, StatusCode};
use percent_encoding::percent_decode_str;
use squall_stream::name::NameError;
use squall_stream::request::StreamInfo;
use squall_stream::{Expiry, StreamName, expiry};

use crate::context::Context;
use crate::door::{Answer, Reply, Request};
use crate::headers::{STREAM_CLOSED, STREAM_EXPIRES_AT, STREAM_NEXT_OFFSET, STREAM_TTL};
use crate::problem::{ErrorCode, Problem};
use crate::query::Query;
use crate::routes::default_stream::content_type_value;
use crate::routes::live::Followed;
use crate::routes::router::{bare, later, method_not_allowed, now, waiting};
use crate::routes::{append, catch_up, create, live, long_poll};

pub(crate) fn route(context: &Arc<Context>, request: Request, encoded: &str) -> Answer {
    let name = match decode(encoded) {
        Ok(name) => name,
        Err(error) => return now(Err(error.into())),
    };
    let context = Arc::clone(context);
    match request.method {
        Method::GET => read(context, request, name),
        Method::HEAD => later(head(context, name)),
        Method::POST => later(append::append(context, request, name)),
        Method::PUT => later(create::create(context, request, name)),
        Method::DELETE => later(async move {
            context.store.delete(name).await?;
            Ok(bare(StatusCode::NO_CONTENT))
        }),
        ref method => Answer::Ready(method_not_allowed(method, request.uri.path())),
    }
}

pub(crate) fn decode(encoded: &str) -> Result<StreamName, NameError> {
    if has_broken_escape(encoded) {
        return Err(NameError::BrokenEscape);
    }
    let decoded = percent_decode_str(encoded).decode_utf8();
    StreamName::parse(&decoded.ok().ok_or(NameError::NotUtf8)?)
}

fn read(context: Arc<Context>, request: Request, name: StreamName) -> Answer {
    let mode = match Query::parse(request.uri.query()) {
        Ok(query) => query.single("live").map(|live| live.map(str::to_owned)),
        Err(problem) => Err(problem),
    };
    match mode {
        Err(problem) => now(Err(problem)),
        Ok(None) => later(catch_up::catch_up(context, request, name)),
        Ok(Some(live)) => match live.as_str() {
            "long-poll" => waiting(long_poll::long_poll(context, request, name)),
            "sse" => waiting(async move { live::sse(&context, &request, name).await }),
            "events" => waiting(async move {
                let followed = Followed { name, awaits: false, plain: false };
                live::events(&context, &request, followed).await
            }),
            other => {
                let detail = format!("live is {other:?}; write long-poll, sse or events");
                now(Err(Problem::new(ErrorCode::BadQuery, detail)))
            }
        },
    }
}

async fn head(context: Arc<Context>, name: StreamName) -> Result<Reply, Problem> {
    let info = context.store.describe(name).await?;
    let reply =
        Reply::new(StatusCode::OK).header(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(describe(reply, &info))
}

/// Adds what a stream's configuration and state are.
pub(crate) fn describe(reply: Reply, info: &StreamInfo) -> Reply {
    let reply = reply
        .header(CONTENT_TYPE, content_type_value(&info.content_type))
        .text_header(STREAM_NEXT_OFFSET, &info.tail.to_string());
    let reply = match info.expiry {
        Expiry::Never => reply,
        Expiry::Ttl(seconds) => reply.header(STREAM_TTL, HeaderValue::from(seconds)),
        Expiry::At(instant) => reply.text_header(STREAM_EXPIRES_AT, &expiry::rfc3339(instant)),
    };
    if info.closed { reply.header(STREAM_CLOSED, HeaderValue::from_static("true")) } else { reply }
}

/// Whether a `%` is not followed by two hexadecimal digits: two spellings of one name.
fn has_broken_escape(encoded: &str) -> bool {
    encoded.split('%').skip(1).any(|rest| {
        let digits = rest.as_bytes().get(..2);
        !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}
