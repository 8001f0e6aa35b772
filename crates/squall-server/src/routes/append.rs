//! `POST /v1/stream/{name}`: appends, closes, or both.

use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use squall_stream::request::{Append, AppendAck};
use squall_stream::{ContentKind, ContentType, StreamName};

use crate::context::Context;
use crate::door::{Reply, Request};
use crate::headers::{
    PRODUCER_EPOCH, PRODUCER_SEQ, STREAM_CLOSED, STREAM_NEXT_OFFSET, asks_to_close, producer,
    single, stream_seq,
};
use crate::problem::{ErrorCode, Problem};
use crate::routes::default_stream::json_events;

pub(crate) async fn append(
    context: Arc<Context>,
    request: Request,
    name: StreamName,
) -> Result<Reply, Problem> {
    let Request { headers, body, .. } = request;
    let producer = producer(&headers)?;
    let stream_seq = stream_seq(&headers)?;
    let close = asks_to_close(&headers);
    let config = &context.config;
    let (body, _permit) =
        body.read(config.event_bytes_max, config.body_pause_max, &context.bodies).await?;
    let (content_type, events) = payload(&headers, &body, close, config.json_elements_max)?;
    let brings_events = !events.is_empty();
    let append = Append { name, content_type, events, close, producer, stream_seq, create: false };
    let ack = context.store.append(append).await?;
    Ok(reply(&ack, brings_events))
}

fn payload(
    headers: &HeaderMap,
    body: &Bytes,
    close: bool,
    elements_max: usize,
) -> Result<(Option<ContentType>, Vec<Bytes>), Problem> {
    if body.is_empty() {
        return match close {
            true => Ok((None, Vec::new())),
            false => Err(Problem::new(ErrorCode::EmptyBody, "the body is empty")),
        };
    }
    let Some(content_type) = single(headers, &CONTENT_TYPE)? else {
        return Err(Problem::new(ErrorCode::MissingContentType, "a body needs a Content-Type"));
    };
    let content_type = ContentType::parse(content_type)?;
    let events = match content_type.kind() {
        ContentKind::Json => json_events(body, elements_max)?,
        ContentKind::Text | ContentKind::Binary => vec![body.clone()],
    };
    Ok((Some(content_type), events))
}

/// 200 tells a producer that its events are new; everything else is 204, a mere close too.
fn reply(ack: &AppendAck, brings_events: bool) -> Reply {
    let fresh = ack.producer.is_some() && !ack.duplicate && brings_events;
    let status = if fresh { StatusCode::OK } else { StatusCode::NO_CONTENT };
    let mut reply = Reply::new(status).text_header(STREAM_NEXT_OFFSET, &ack.tail.to_string());
    if let Some(position) = ack.producer {
        reply = reply
            .header(PRODUCER_EPOCH, HeaderValue::from(position.epoch))
            .header(PRODUCER_SEQ, HeaderValue::from(position.seq));
    }
    if ack.closed { reply.header(STREAM_CLOSED, HeaderValue::from_static("true")) } else { reply }
}
