//! `PUT /v1/stream/{name}`: creates a stream, or confirms one.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, LOCATION};
use http::{HeaderMap, StatusCode};
use percent_encoding::{CONTROLS, utf8_percent_encode};
use squall_stream::request::Create;
use squall_stream::{ContentKind, ContentType, Expiry, StreamName, json};

use crate::context::Context;
use crate::door::{Reply, Request};
use crate::headers::{
    STREAM_EXPIRES_AT, STREAM_FORK_OFFSET, STREAM_FORK_SUB_OFFSET, STREAM_FORKED_FROM, STREAM_TTL,
    asks_to_close, single,
};
use crate::problem::{ErrorCode, Problem};
use crate::routes::stream::describe;

pub(crate) async fn create(
    context: Arc<Context>,
    request: Request,
    name: StreamName,
) -> Result<Reply, Problem> {
    let Request { headers, uri, body, .. } = request;
    refuse_forks(&headers)?;
    let content_type = single(&headers, &CONTENT_TYPE)?.map(ContentType::parse).transpose()?;
    let expiry = expiry(&headers)?;
    let config = &context.config;
    let (body, _permit) =
        body.read(config.event_bytes_max, config.body_pause_max, &context.bodies).await?;
    let events = events(body, content_type.as_ref(), config.json_elements_max)?;
    let closed = asks_to_close(&headers);
    let create = Create { name, content_type, expiry, closed, events };
    let ack = context.store.create(create).await?;
    let status = if ack.created { StatusCode::CREATED } else { StatusCode::OK };
    let host = uri.authority().map(http::uri::Authority::as_str);
    let host = host.or_else(|| headers.get(HOST).and_then(|host| host.to_str().ok()));
    // Bytes beyond ASCII may stand in a path as they are, but not in a header.
    let path = utf8_percent_encode(uri.path(), CONTROLS);
    let location = format!("http://{}{path}", host.unwrap_or(&context.listen));
    Ok(describe(Reply::new(status).text_header(LOCATION, &location), &ack.info))
}

/// Forks are not served; a stream that silently is none would be wrong.
fn refuse_forks(headers: &HeaderMap) -> Result<(), Problem> {
    for name in [STREAM_FORKED_FROM, STREAM_FORK_OFFSET, STREAM_FORK_SUB_OFFSET] {
        if headers.contains_key(&name) {
            let detail = format!("{name} asks for a fork, which this version does not make");
            return Err(Problem::new(ErrorCode::NotImplemented, detail));
        }
    }
    Ok(())
}

pub(crate) fn expiry(headers: &HeaderMap) -> Result<Expiry, Problem> {
    match (single(headers, &STREAM_TTL)?, single(headers, &STREAM_EXPIRES_AT)?) {
        (Some(_), Some(_)) => Err(Problem::new(
            ErrorCode::BadHeader,
            "Stream-TTL and Stream-Expires-At exclude each other; send one of them",
        )),
        (Some(ttl), None) => Ok(Expiry::parse_ttl(ttl)?),
        (None, Some(instant)) => Ok(Expiry::parse_instant(instant)?),
        (None, None) => Ok(Expiry::Never),
    }
}

fn events(
    body: Bytes,
    content_type: Option<&ContentType>,
    elements_max: usize,
) -> Result<Vec<Bytes>, Problem> {
    if body.is_empty() {
        return Ok(Vec::new());
    }
    match content_type.map(ContentType::kind) {
        Some(ContentKind::Json) => Ok(json::elements(&body, elements_max)?),
        _ => Ok(vec![body]),
    }
}
