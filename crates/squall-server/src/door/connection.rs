//! One connection: hyper's future for it, and the orders that may end it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Method;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;

use crate::door::accept::Handler;
use crate::door::answer::AnswerFuture;
use crate::door::long::Handover;
use crate::door::quick::Quick;
use crate::door::request::Request;
use crate::door::sniff::{Protocol, sniff};
use crate::door::socket::Socket;
use crate::door::state::ConnectionState;

/// Sizes that hyper is set up with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HttpLimits {
    /// Bytes of a request head.
    pub(crate) head_bytes_max: usize,
    /// Headers of a request.
    pub(crate) headers_max: usize,
    /// Requests at the same time on one HTTP/2 connection.
    pub(crate) http2_streams_max: u32,
}

type Http1 = http1::Connection<TokioIo<Socket>, Requests>;
type Http2 = http2::Connection<TokioIo<Socket>, Requests, TokioExecutor>;

/// Answers the requests of one connection.
pub(crate) struct Requests {
    handler: Arc<dyn Handler>,
    state: Arc<ConnectionState>,
    handover: Handover,
}

impl Service<hyper::Request<Incoming>> for Requests {
    type Response = hyper::Response<crate::door::answer::AnswerBody>;
    type Error = std::convert::Infallible;
    type Future = AnswerFuture;

    fn call(&self, request: hyper::Request<Incoming>) -> AnswerFuture {
        let takes_over = *request.method() == Method::GET && !self.state.is_http2();
        let handover = takes_over.then(|| (self.handover.clone(), request.version()));
        AnswerFuture::new(&self.state, handover, || {
            self.handler.handle(Request::from_hyper(request, &self.state))
        })
    }
}

/// hyper's part of a connection; on the heap, since a follow goes on without it.
enum Serving {
    Http1(Box<Http1>),
    Http2(Box<Http2>),
}

/// Serves a connection until it ends, is asked to end, or is cut.
pub(crate) async fn serve(
    stream: TcpStream,
    state: Arc<ConnectionState>,
    handler: Arc<dyn Handler>,
    limits: HttpLimits,
) {
    let mut socket = Socket::new(stream, Arc::clone(&state));
    let protocol =
        Ordered { state: &state, inner: Box::pin(sniff(&mut socket)), ends_on_shutdown: true };
    let Some(Ok(Some(protocol))) = protocol.await else {
        return;
    };
    let handover = Handover::default();
    socket.answer_quickly(Quick::new(Arc::clone(&handler)));
    let requests = Requests { handler, state: Arc::clone(&state), handover: handover.clone() };
    let cork = socket.cork().clone();
    let mut serving = Serving::new(protocol, socket, requests, limits);
    let mut asked = false;
    let long = std::future::poll_fn(|cx| {
        let served = serving.poll(cx, &state, &mut asked);
        match cork.poll_turn(cx) {
            Poll::Ready(Err(_gone)) => return Poll::Ready(None),
            Poll::Ready(Ok(())) => state.end_turn(),
            Poll::Pending => {}
        }
        // A follow is taken over once hyper has nothing left of the answers before it.
        match handover.is_offered() && !cork.is_behind_hyper() {
            true => Poll::Ready(handover.take()),
            false => served.map(|()| None),
        }
    })
    .await;
    if let (Some(mut long), Serving::Http1(connection)) = (long, serving) {
        // From here on hyper and its buffers are gone.
        let mut socket = connection.into_parts().io.into_inner();
        std::future::poll_fn(|cx| match state.is_cut() {
            true => Poll::Ready(()),
            // An error is the peer's: it has gone.
            false => long.poll(cx, &mut socket).map(drop),
        })
        .await;
    }
}

impl Serving {
    fn new(protocol: Protocol, socket: Socket, requests: Requests, limits: HttpLimits) -> Self {
        match protocol {
            Protocol::Http1 => {
                let io = TokioIo::new(socket);
                Self::Http1(Box::new(http1(limits).serve_connection(io, requests)))
            }
            Protocol::Http2 => {
                socket.state().set_http2();
                let io = TokioIo::new(socket);
                Self::Http2(Box::new(http2(limits).serve_connection(io, requests)))
            }
        }
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        state: &ConnectionState,
        asked: &mut bool,
    ) -> Poll<()> {
        state.register_task(cx.waker());
        if state.is_cut() {
            return Poll::Ready(());
        }
        if state.is_shutting_down() && !*asked {
            *asked = true;
            match self {
                Self::Http1(connection) => Pin::new(&mut **connection).graceful_shutdown(),
                Self::Http2(connection) => Pin::new(&mut **connection).graceful_shutdown(),
            }
        }
        // An error is the peer's: it broke off, or did not speak HTTP and was told so.
        match self {
            Self::Http1(connection) => Pin::new(&mut **connection).poll(cx).map(drop),
            Self::Http2(connection) => Pin::new(&mut **connection).poll(cx).map(drop),
        }
    }
}

/// A wait that ends early when the connection is to end.
struct Ordered<'a, F> {
    state: &'a ConnectionState,
    inner: Pin<Box<F>>,
    ends_on_shutdown: bool,
}

impl<F: Future> Future for Ordered<'_, F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.state.register_task(cx.waker());
        let shutting_down = self.ends_on_shutdown && self.state.is_shutting_down();
        if self.state.is_cut() || shutting_down {
            return Poll::Ready(None);
        }
        self.inner.as_mut().poll(cx).map(Some)
    }
}

fn http1(limits: HttpLimits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    // Said explicitly, hyper allocates room for that many headers for each request.
    if limits.headers_max != HYPER_HEADERS_MAX {
        builder.max_headers(limits.headers_max);
    }
    builder
        .max_buf_size(limits.head_bytes_max.max(HYPER_BUFFER_BYTES_MIN))
        // The sweep does this for all connections with one timer.
        .header_read_timeout(None);
    builder
}

/// Headers that hyper takes if nothing is said.
const HYPER_HEADERS_MAX: usize = 100;

/// The smallest buffer that hyper takes.
const HYPER_BUFFER_BYTES_MIN: usize = 8 * 1024;

fn http2(limits: HttpLimits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    let head_bytes_max = u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX);
    builder
        .timer(TokioTimer::new())
        .max_header_list_size(head_bytes_max)
        .max_concurrent_streams(limits.http2_streams_max)
        .max_send_buf_size(64 * 1024);
    builder
}
