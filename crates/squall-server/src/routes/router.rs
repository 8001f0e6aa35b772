//! The router: from method and path to the route that answers.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, X_CONTENT_TYPE_OPTIONS};
use http::{Method, StatusCode};

use crate::context::{Context, Counters};
use crate::door::{Answer, Recalled, Reply, Request};
use crate::problem::{ErrorCode, Problem};
use crate::routes::guard::{Guard, NOSNIFF};
use crate::routes::{default_stream, operations, stream, streams};

/// Answers every request of a server.
pub(crate) struct Router(pub(crate) Arc<Context>);

impl crate::door::Handler for Router {
    fn is_own_host(&self, host: &[u8]) -> bool {
        host == self.0.listen.as_bytes()
    }

    /// `GET /` from memory: the one request that comes by the hundred thousand.
    fn recall(&self, last: Option<&Bytes>) -> Recalled {
        let Some(newest) = default_stream::recall(&self.0) else {
            return Recalled::Nothing;
        };
        Counters::count(&self.0.counters.requests);
        // Bytes at the same place are the same event: `last` keeps the place taken.
        let place = |bytes: &Bytes| (bytes.as_ptr(), bytes.len());
        if last.is_some_and(|last| place(last) == place(&newest.payload)) {
            return Recalled::Same;
        }
        let reply = default_stream::newest_reply(Ok(Some(newest)));
        Recalled::Other(reply.header(X_CONTENT_TYPE_OPTIONS, NOSNIFF))
    }

    fn handle(&self, request: Request) -> Answer {
        let context = &self.0;
        Counters::count(&context.counters.requests);
        let guard = match Guard::check(context, request.head()) {
            Ok(guard) => guard,
            Err(refusal) => return Answer::Ready(*refusal),
        };
        if request.method == Method::OPTIONS {
            return Answer::Ready(guard.preflight(&request, allowed(request.uri.path())));
        }
        guard.around(route(context, request))
    }
}

fn route(context: &Arc<Context>, request: Request) -> Answer {
    let path = request.uri.path();
    if let Some(name) = path.strip_prefix("/v1/stream/") {
        let name = name.to_owned();
        return stream::route(context, request, &name);
    }
    let reads = matches!(request.method, Method::GET | Method::HEAD);
    match path {
        "/" if reads => default_stream::newest(context),
        "/" if request.method == Method::POST => default_stream::append(context, request),
        "/stream" if reads => default_stream::follow(context, request),
        "/v1/streams" if reads => streams::list(context, &request),
        "/healthz" if reads => operations::alive(),
        "/readyz" if reads => operations::ready(context),
        "/metrics" if reads => operations::metrics(context),
        "/" | "/stream" | "/v1/streams" | "/healthz" | "/readyz" | "/metrics" => {
            Answer::Ready(method_not_allowed(&request.method, path))
        }
        _ => {
            let detail = format!("there is nothing at {path}");
            Answer::Ready(Problem::new(ErrorCode::NotFound, detail).reply())
        }
    }
}

pub(crate) fn method_not_allowed(method: &Method, path: &str) -> Reply {
    let detail = format!("{path} does not take {method}");
    Problem::new(ErrorCode::MethodNotAllowed, detail).header(ALLOW, allowed(path)).reply()
}

/// The methods that a path takes.
fn allowed(path: &str) -> &'static str {
    match path {
        "/" => "GET, HEAD, POST, OPTIONS",
        _ if path.starts_with("/v1/stream/") => "GET, HEAD, POST, PUT, DELETE, OPTIONS",
        "*" => "GET, HEAD, POST, PUT, DELETE, OPTIONS",
        _ => "GET, HEAD, OPTIONS",
    }
}

/// A reply that is only a status.
pub(crate) fn bare(status: StatusCode) -> Reply {
    Reply::new(status)
}

/// Runs a route that has to wait, and turns its problem into a reply.
pub(crate) fn later(
    future: impl Future<Output = Result<Reply, Problem>> + Send + 'static,
) -> Answer {
    Answer::Later(Box::pin(async move { future.await.unwrap_or_else(Problem::reply) }))
}

/// As [`later`], for an answer that is worth nothing once the peer has gone.
pub(crate) fn waiting(
    future: impl Future<Output = Result<Reply, Problem>> + Send + 'static,
) -> Answer {
    Answer::Waiting(Box::pin(async move { future.await.unwrap_or_else(Problem::reply) }))
}

/// A route that need not wait.
pub(crate) fn now(result: Result<Reply, Problem>) -> Answer {
    Answer::Ready(result.unwrap_or_else(Problem::reply))
}
