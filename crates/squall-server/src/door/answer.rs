//! From a route's answer to the future and the body that hyper polls.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::door::reply::{Reply, ReplyBody};
use crate::door::state::ConnectionState;

/// Bytes of a long answer that may wait for the socket before no more are made.
const BACKLOG_BYTES_MAX: u64 = 16 * 1024;

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
pub(crate) struct AnswerFuture {
    answer: Option<Answer>,
    active: Option<Active>,
    waiting: bool,
}

/// Counts a request as being answered until dropped.
struct Active {
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
    pub(crate) fn new(state: &Arc<ConnectionState>, answer: impl FnOnce() -> Answer) -> Self {
        let active = Active::begin(state);
        Self { answer: Some(answer()), active: Some(active), waiting: false }
    }

    fn finish(&mut self, reply: Reply) -> hyper::Response<AnswerBody> {
        let active = self.active.take();
        let body = match reply.body {
            ReplyBody::Follow(_) => {
                let active = active.map(|mut active| {
                    active.wait();
                    active
                });
                AnswerBody { body: reply.body, active }
            }
            // hyper has all of it: the request counts as answered.
            ReplyBody::Empty | ReplyBody::Whole(_) => AnswerBody { body: reply.body, active: None },
        };
        let mut response = hyper::Response::new(body);
        *response.status_mut() = reply.status;
        *response.headers_mut() = reply.headers;
        response
    }
}

impl Future for AnswerFuture {
    type Output = Result<hyper::Response<AnswerBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let reply = match this.answer.take() {
            Some(Answer::Ready(reply)) => reply,
            Some(Answer::Later(mut future)) => match future.as_mut().poll(cx) {
                Poll::Ready(reply) => reply,
                Poll::Pending => {
                    this.answer = Some(Answer::Later(future));
                    return Poll::Pending;
                }
            },
            Some(Answer::Waiting(mut future)) => {
                if !this.waiting {
                    this.waiting = true;
                    this.active.iter_mut().for_each(Active::wait);
                }
                match future.as_mut().poll(cx) {
                    Poll::Ready(reply) => reply,
                    Poll::Pending => {
                        this.answer = Some(Answer::Waiting(future));
                        return Poll::Pending;
                    }
                }
            }
            None => return Poll::Pending, // Polled after its end, which hyper never does.
        };
        Poll::Ready(Ok(this.finish(reply)))
    }
}

/// The body of one answer, as hyper wants it.
pub(crate) struct AnswerBody {
    body: ReplyBody,
    active: Option<Active>,
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
            ReplyBody::Whole(bytes) => Some(bytes),
            ReplyBody::Follow(mut follow) => {
                if let Some(active) = &this.active
                    && active.state.is_backed_up(BACKLOG_BYTES_MAX, cx.waker())
                {
                    this.body = ReplyBody::Follow(follow);
                    return Poll::Pending;
                }
                let polled = follow.poll_chunk(cx);
                this.body = ReplyBody::Follow(follow);
                let chunk = ready!(polled);
                if let (Some(bytes), Some(active)) = (&chunk, &this.active) {
                    active.state.hand(bytes.len());
                }
                chunk
            }
        };
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
