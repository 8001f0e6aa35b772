//! For those who run the server: is it alive, is it ready, what does it count.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use squall_stream::observer::{Health, UnreadyReason};
use squall_stream::request::StoreError;

use crate::context::Context;
use crate::door::{Answer, Reply};
use crate::metrics;
use crate::problem::{ErrorCode, Problem};
use crate::routes::router::now;

/// `GET /healthz`: the process answers.
pub(crate) fn alive() -> Answer {
    Answer::Ready(ok())
}

/// `GET /readyz`: whether appends are taken.
pub(crate) fn ready(context: &Context) -> Answer {
    if context.is_draining() {
        return now(Err(StoreError::Unready(UnreadyReason::ShuttingDown).into()));
    }
    now(match context.store.health() {
        Health::Ready => Ok(ok()),
        // A probe is answered 503 whatever the reason is.
        Health::Unready(reason) => Err(Problem::new(ErrorCode::Overloaded, reason.to_string())),
        Health::Failed { reason } => Err(Problem::new(ErrorCode::Overloaded, reason)),
    })
}

/// `GET /metrics`: Prometheus text.
pub(crate) fn metrics(context: &Context) -> Answer {
    const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Answer::Ready(
        Reply::new(StatusCode::OK)
            .header(CONTENT_TYPE, HeaderValue::from_static(TEXT))
            .header(CACHE_CONTROL, HeaderValue::from_static("no-store"))
            .whole(Bytes::from(metrics::encode(context))),
    )
}

fn ok() -> Reply {
    Reply::new(StatusCode::OK)
        .header(CONTENT_TYPE, HeaderValue::from_static("text/plain"))
        .header(CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .whole(Bytes::from_static(b"ok\n"))
}
