//! The matching: bytes in, finished requests out.

use std::collections::VecDeque;

use squall_stats::ledger::Failure;
use squall_wire::http::response::{
    EndOfStream, HeadCache, ResponseHead, ResponseLimits, ResponsePart, ResponseReader,
};

use super::pending::Pending;
use crate::plan::{BodyState, Check};
use crate::record::{Recorder, Reply};

/// What all exchanges of a thread share.
#[derive(Debug)]
pub(crate) struct Tools {
    pub(crate) check: Check,
    pub(crate) cache: HeadCache,
    pub(crate) limits: ResponseLimits,
}

/// The requests on one connection, oldest first, and the reply that is being read.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    pending: VecDeque<Pending>,
    reader: ResponseReader,
    head: Option<ResponseHead>,
    body: BodyState,
    /// Requests handed to this connection so far.
    handed: u64,
    /// The server said that it closes the connection.
    closes: bool,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The peer closed its sending side; `false` if it should have said so and did not.
    Orderly(bool),
    /// It was reset, or another error of the kernel.
    Reset,
    /// We gave it up, for this reason.
    GivenUp(Failure),
}

/// Bytes that answer no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unmatched;

impl Exchange {
    /// Takes in a request that is handed to the connection.
    pub(crate) fn push(&mut self, pending: Pending) {
        self.pending.push_back(pending);
        self.handed += 1;
    }

    /// Requests on their way.
    pub(crate) fn outstanding(&self) -> usize {
        self.pending.len()
    }

    /// Requests handed to this connection so far.
    pub(crate) fn handed(&self) -> u64 {
        self.handed
    }

    /// Whether the server said that it closes the connection.
    pub(crate) fn closes(&self) -> bool {
        self.closes
    }

    /// When the oldest request was handed to the connection.
    pub(crate) fn oldest_started_ns(&self) -> Option<u64> {
        self.pending.front().map(|pending| pending.started_ns)
    }

    /// Takes in what the server sent by `now_ns`, and records the requests that it finishes.
    ///
    /// # Errors
    /// `Framing` if the bytes are no replies: the connection is of no use any more.
    pub(crate) fn receive(
        &mut self,
        mut input: &[u8],
        now_ns: u64,
        tools: &mut Tools,
        recorder: &mut Recorder,
    ) -> Result<Option<Unmatched>, Failure> {
        while let Some(front) = self.pending.front() {
            let read = self.reader.read(&mut input, front.kind, &mut tools.cache, &tools.limits);
            match read.map_err(|_what| Failure::Framing)? {
                None => return Ok(None),
                Some(ResponsePart::Interim(_)) => {}
                Some(ResponsePart::Head(head)) => self.head = Some(head),
                Some(ResponsePart::Body(part)) => tools.check.feed(&mut self.body, part),
                Some(ResponsePart::End) => self.finish(now_ns, &tools.check, recorder),
            }
            if self.closes {
                // Whatever follows answers nothing: RFC 9112 §9.6.
                return Ok(None);
            }
        }
        let is_blank = input.iter().all(|byte| matches!(byte, b'\r' | b'\n'));
        Ok(if is_blank { None } else { Some(Unmatched) })
    }

    /// Ends the connection: whatever is still on its way has failed. Ready for the next one.
    /// Returns how many requests failed.
    pub(crate) fn end(
        &mut self,
        ended: Ended,
        now_ns: u64,
        check: &Check,
        recorder: &mut Recorder,
    ) -> usize {
        let mut failed = 0;
        let was_within = !self.reader.is_idle();
        if let Ended::Orderly(announced) = ended
            && was_within
            && self.reader.end() == EndOfStream::Complete
            && announced
        {
            self.finish(now_ns, check, recorder);
        } else if let Some(first) = self.pending.pop_front() {
            recorder.failed(&first, first_failure(ended, was_within), now_ns);
            failed += 1;
        }
        let rest = match ended {
            Ended::GivenUp(failure) => failure,
            Ended::Reset => Failure::Reset,
            Ended::Orderly(_) => Failure::Closed,
        };
        while let Some(pending) = self.pending.pop_front() {
            recorder.failed(&pending, rest, now_ns);
            failed += 1;
        }
        self.renew();
        failed
    }

    /// Gives up without a verdict: the run is over.
    pub(crate) fn abandon(&mut self, recorder: &mut Recorder) {
        while let Some(pending) = self.pending.pop_front() {
            recorder.unanswered(&pending);
        }
        self.renew();
    }

    /// Forgets the connection.
    fn renew(&mut self) {
        self.reader.reset();
        self.head = None;
        self.body.reset();
        self.handed = 0;
        self.closes = false;
    }

    /// The reply to the oldest request is whole.
    fn finish(&mut self, now_ns: u64, check: &Check, recorder: &mut Recorder) {
        let (Some(pending), Some(head)) = (self.pending.pop_front(), self.head.take()) else {
            return;
        };
        let failure = if !check.takes_status(head.status) {
            Some(Failure::Status)
        } else if !check.takes_body(&self.body) {
            Some(Failure::Body)
        } else {
            None
        };
        let reply = Reply { status: head.status, body_bytes: self.body.bytes, failure };
        recorder.answered(&pending, reply, now_ns);
        self.body.reset();
        self.closes |= !head.keep_alive;
    }
}

/// What became of the oldest request when its connection ended.
fn first_failure(ended: Ended, was_within: bool) -> Failure {
    match ended {
        Ended::GivenUp(failure) => failure,
        Ended::Orderly(_) | Ended::Reset if was_within => Failure::Truncated,
        Ended::Orderly(_) => Failure::Closed,
        Ended::Reset => Failure::Reset,
    }
}
