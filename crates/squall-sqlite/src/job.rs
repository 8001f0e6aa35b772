//! What waits for the committer: a change, and who waits for its outcome.

use squall_stream::request::{
    Append, AppendAck, AppendError, Create, CreateAck, CreateError, StoreError, StreamError,
};
use squall_stream::{Offset, StreamName};
use tokio::sync::oneshot;

/// A request with the way back to its caller. The outcome stays here until it is durable.
pub(crate) struct Ticket<R, T, E> {
    pub(crate) request: R,
    pub(crate) outcome: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

/// The caller's end of a [`Ticket`].
pub(crate) struct Waiting<T, E>(oneshot::Receiver<Result<T, E>>);

impl<R, T, E: From<StoreError>> Ticket<R, T, E> {
    pub(crate) fn new(request: R) -> (Self, Waiting<T, E>) {
        let (reply, outcome) = oneshot::channel();
        let ticket = Self { request, outcome: None, reply };
        (ticket, Waiting(outcome))
    }

    /// Answers with the outcome. A caller who has gone is none of our business.
    fn deliver(self) {
        let outcome = self.outcome;
        let outcome = outcome.unwrap_or_else(|| Err(StoreError::OutcomeUnknown.into()));
        drop(self.reply.send(outcome));
    }

    fn refuse(self, error: StoreError) {
        drop(self.reply.send(Err(error.into())));
    }
}

impl<T, E: From<StoreError>> Waiting<T, E> {
    /// Waits for the outcome; unknown if the committer ended without one.
    pub(crate) async fn outcome(self) -> Result<T, E> {
        let gone = |_| Err(StoreError::OutcomeUnknown.into());
        self.0.await.unwrap_or_else(gone)
    }
}

/// What a trim asks for.
pub(crate) struct Trim {
    pub(crate) name: StreamName,
    pub(crate) before: Offset,
}

/// One change that waits for a commit.
pub(crate) enum Job {
    Append(Ticket<Append, AppendAck, AppendError>),
    /// Boxed since it is rare and larger than an append.
    Create(Box<Ticket<Create, CreateAck, CreateError>>),
    Delete(Ticket<StreamName, (), StreamError>),
    Trim(Ticket<Trim, Offset, StreamError>),
}

/// What a job counts for beside its payload, so that the bytes of a queue bound its memory.
const JOB_BYTES: usize = 256;

impl Job {
    /// Bytes that this job holds in the queue.
    pub(crate) fn bytes(&self) -> usize {
        JOB_BYTES
            + match self {
                Self::Append(ticket) => ticket.request.bytes(),
                Self::Create(ticket) => ticket.request.bytes(),
                Self::Delete(_) | Self::Trim(_) => 0,
            }
    }

    /// Whether the change gives space back, and so is taken even if there is none.
    pub(crate) fn frees_space(&self) -> bool {
        matches!(self, Self::Delete(_) | Self::Trim(_))
    }

    /// Sends the outcome that was decided and is durable now.
    pub(crate) fn deliver(self) {
        match self {
            Self::Append(ticket) => ticket.deliver(),
            Self::Create(ticket) => ticket.deliver(),
            Self::Delete(ticket) => ticket.deliver(),
            Self::Trim(ticket) => ticket.deliver(),
        }
    }

    /// Answers that the change was not taken, or not surely.
    pub(crate) fn refuse(self, error: StoreError) {
        match self {
            Self::Append(ticket) => ticket.refuse(error),
            Self::Create(ticket) => ticket.refuse(error),
            Self::Delete(ticket) => ticket.refuse(error),
            Self::Trim(ticket) => ticket.refuse(error),
        }
    }
}
