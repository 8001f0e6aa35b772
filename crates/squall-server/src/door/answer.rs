//! From a route's answer to the future and the body that hyper polls.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::Version;
use http_body::{Body, Frame, SizeHint};

use crate::door::loan::{LOAN_BYTES_MAX, lend};
use crate::door::long::Handover;
use crate::door::reply::{Reply, ReplyBody};
use crate::door::state::ConnectionState;
use crate::follow::Chunk;

/// What a route gives for a request: the reply, or a future of it.
pub(crate) enum Answer {
    /// There at once, as for a read from memory.
    Ready(Reply),
    /// After a wait.
    Later(Pin<Box<dyn Future<Output = Reply> + Send>>),
    /// After a wait that is worth nothing once the peer has gone.
    Waiting(Pin<Box<dyn Future<Output = Reply> + Send>>),
}

/// The future of one answer, as hyper wants it.
pub(crate) enum AnswerFuture {
    /// There is nothing to wait for.
    Ready(Option<hyper::Response<AnswerBody>>),
    /// The reply has to be waited for.
    Later {
        reply: Pin<Box<dyn Future<Output = Reply> + Send>>,
        active: Option<Active>,
        /// Where a follow is left for the connection to write; none on HTTP/2.
        handover: Option<(Handover, Version)>,
    },
}

/// Counts a request as being answered until dropped.
pub(crate) struct Active {
    state: Arc<ConnectionState>,
    waiting: bool,
}

impl Active {
    fn begin(state: &Arc<ConnectionState>) -> Self {
        state.begin_request();
        Self { state: Arc::clone(state), waiting: false }
    }

    fn wait(&mut self) {
        if !self.waiting {
            self.waiting = true;
            self.state.begin_waiting();
        }
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        if self.waiting {
            self.state.end_waiting();
        }
        self.state.end_request();
    }
}

impl AnswerFuture {
    pub(crate) fn new(
        state: &Arc<ConnectionState>,
        handover: Option<(Handover, Version)>,
        answer: impl FnOnce() -> Answer,
    ) -> Self {
        let mut active = Active::begin(state);
        match answer() {
            Answer::Ready(reply) => Self::Ready(Some(respond(state, reply, Some(active)))),
            Answer::Later(reply) => Self::Later { reply, active: Some(active), handover: None },
            Answer::Waiting(reply) => {
                active.wait();
                Self::Later { reply, active: Some(active), handover }
            }
        }
    }
}

/// The response that hyper writes. A request counts as answered once hyper has all of the
/// reply; one that goes on counts, and waits, until it ends.
fn respond(
    state: &Arc<ConnectionState>,
    reply: Reply,
    active: Option<Active>,
) -> hyper::Response<AnswerBody> {
    let lender = state.is_http2().then(|| Arc::clone(state));
    let active = match reply.body {
        ReplyBody::Empty | ReplyBody::Whole(_) => None,
        ReplyBody::Follow(_) => active.map(|mut active| {
            active.wait();
            active
        }),
    };
    let mut response =
        hyper::Response::new(AnswerBody { body: reply.body, _active: active, lender });
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    response
}

impl Future for AnswerFuture {
    type Output = Result<hyper::Response<AnswerBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            // None once it was taken, after which hyper polls no more.
            Self::Ready(response) => {
                response.take().map_or(Poll::Pending, |response| Poll::Ready(Ok(response)))
            }
            Self::Later { reply, active, handover } => {
                if active.is_none() {
                    return Poll::Pending; // All was taken: hyper is given up or polls no more.
                }
                let reply = ready!(reply.as_mut().poll(cx));
                let Some(active) = active.take() else {
                    return Poll::Pending;
                };
                let left = match handover.take() {
                    Some((handover, version)) => handover.offer(reply, active, version),
                    None => Some((reply, active)),
                };
                let Some((reply, active)) = left else {
                    return Poll::Pending; // The connection writes it.
                };
                let state = Arc::clone(&active.state);
                Poll::Ready(Ok(respond(&state, reply, Some(active))))
            }
        }
    }
}

/// The body of one answer, as hyper wants it.
pub(crate) struct AnswerBody {
    body: ReplyBody,
    /// Of an answer that goes on, held until it ends.
    _active: Option<Active>,
    /// On HTTP/2: who notes what was given and not sent.
    lender: Option<Arc<ConnectionState>>,
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        let chunk = match std::mem::replace(&mut this.body, ReplyBody::Empty) {
            ReplyBody::Empty => None,
            ReplyBody::Whole(mut bytes)
                if this.lender.is_some() && bytes.len() > LOAN_BYTES_MAX =>
            {
                let part = bytes.split_to(LOAN_BYTES_MAX);
                this.body = ReplyBody::Whole(bytes);
                Some(part)
            }
            ReplyBody::Whole(bytes) => Some(bytes),
            ReplyBody::Follow(mut follow) => {
                let polled = follow.poll_chunk(cx);
                this.body = ReplyBody::Follow(follow);
                ready!(polled).map(Chunk::plain)
            }
        };
        let chunk = chunk.map(|bytes| match &this.lender {
            Some(lender) => lend(lender, bytes),
            None => bytes,
        });
        Poll::Ready(chunk.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.body {
            ReplyBody::Empty => true,
            ReplyBody::Whole(bytes) => bytes.is_empty(),
            ReplyBody::Follow(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            ReplyBody::Empty => SizeHint::with_exact(0),
            ReplyBody::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            ReplyBody::Follow(_) => SizeHint::default(),
        }
    }
}
