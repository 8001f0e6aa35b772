//! One connection of the crash test: appends until the server dies, and remembers.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::event::EventId;
use super::verify::{ConnectionLog, Outcome, Violation};
use crate::http::{Connection, Request, Response};
use crate::wait::pause;

/// The content type of the stream.
pub(super) const TEXT: &str = "text/plain";
/// A content type that the stream refuses.
const WRONG_TYPE: &str = "application/octet-stream";
/// Tries of one append that is shed with 503 before the worker calls it a failure.
const SHED_RETRIES_MAX: u32 = 200;
/// Rest after a 503.
const SHED_PAUSE: Duration = Duration::from_millis(5);

/// One connection, with a producer identity or without.
#[derive(Debug)]
pub(super) struct Worker {
    log: ConnectionLog,
    rng: StdRng,
    target: String,
    number_next: u32,
    producer: Option<Producer>,
}

/// The state an idempotent producer keeps.
#[derive(Debug)]
struct Producer {
    id: String,
    seq_next: u64,
    /// The event sent with `seq_next`, while its outcome is open.
    pending: Option<EventId>,
    /// The event acked last.
    acked: Option<EventId>,
}

/// Whether the server may have seen this append before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    /// Never sent before.
    First,
    /// Sent before, outcome open.
    Retry,
    /// Acked before.
    Repeat,
}

impl Worker {
    /// A worker for the stream at `target`; every second one is a producer.
    pub(super) fn new(target: &str, connection: u32, seed: u64) -> Self {
        let producer = (connection % 2 == 1).then(|| Producer {
            id: format!("producer-{connection}"),
            seq_next: 0,
            pending: None,
            acked: None,
        });
        Self {
            log: ConnectionLog { connection, ..ConnectionLog::default() },
            rng: StdRng::seed_from_u64(seed ^ u64::from(connection) << 32),
            target: target.to_owned(),
            number_next: 0,
            producer,
        }
    }

    pub(super) fn into_log(self) -> ConnectionLog {
        self.log
    }

    /// Appends until the server is killed. `killed` is set just before that.
    pub(super) fn load(&mut self, address: SocketAddr, killed: &AtomicBool) {
        let ended = self.load_until_cut(address);
        if !killed.load(Ordering::SeqCst) {
            self.report_broken(&ended);
        }
    }

    /// After the restart: ends what was in flight, shows that what was acked is known, and
    /// appends once more.
    pub(super) fn settle(&mut self, address: SocketAddr) {
        if let Err(error) = self.try_settle(address) {
            self.report_broken(&error);
        }
    }

    /// An answer that was already reported ends the work with an error of its own.
    fn report_broken(&mut self, error: &io::Error) {
        if self.log.violations.is_empty() {
            let connection = self.log.connection;
            self.log.violations.push(Violation::Broken { connection, reason: error.to_string() });
        }
    }

    fn load_until_cut(&mut self, address: SocketAddr) -> io::Error {
        loop {
            let Err(error) = self.use_connection(address) else {
                continue;
            };
            return error;
        }
    }

    /// Opens a connection, uses it, and drops it at a random moment.
    fn use_connection(&mut self, address: SocketAddr) -> io::Result<()> {
        let mut connection = Connection::open(address)?;
        self.retry_pending(&mut connection)?;
        loop {
            match self.rng.random_range(0..64) {
                0..4 => self.append_refused(&mut connection)?,
                4 => return Ok(()),
                5 => return self.append_and_leave(&mut connection),
                _ => self.append(&mut connection)?,
            }
        }
    }

    fn try_settle(&mut self, address: SocketAddr) -> io::Result<()> {
        let mut connection = Connection::open(address)?;
        self.retry_pending(&mut connection)?;
        if let Some(acked) = self.producer.as_ref().and_then(|producer| producer.acked) {
            self.attempt(&mut connection, acked, Attempt::Repeat)?;
        }
        self.append(&mut connection)
    }

    fn append(&mut self, connection: &mut Connection) -> io::Result<()> {
        let event = self.new_event(Outcome::Unknown);
        self.attempt(connection, event, Attempt::First)
    }

    fn retry_pending(&mut self, connection: &mut Connection) -> io::Result<()> {
        match self.producer.as_ref().and_then(|producer| producer.pending) {
            Some(event) => self.attempt(connection, event, Attempt::Retry),
            None => Ok(()),
        }
    }

    /// Sends an append and drops the connection: once the server has it, it may commit it.
    fn append_and_leave(&mut self, connection: &mut Connection) -> io::Result<()> {
        let event = self.new_event(Outcome::Unknown);
        let request = self.request(event, TEXT, Attempt::First);
        if let Some(producer) = &mut self.producer {
            producer.pending = Some(event);
        }
        connection.send(&request)
    }

    /// A wrong content type is 409 and moves neither the stream nor the producer.
    fn append_refused(&mut self, connection: &mut Connection) -> io::Result<()> {
        let event = self.new_event(Outcome::Refused);
        let request = self.request(event, WRONG_TYPE, Attempt::First);
        let response = connection.call(&request)?;
        match response.status {
            409 | 503 => Ok(()),
            _ => Err(self.wrong_answer(event, "an append of the wrong type", "409", &response)),
        }
    }

    fn attempt(
        &mut self,
        connection: &mut Connection,
        event: EventId,
        mut attempt: Attempt,
    ) -> io::Result<()> {
        let request = self.request(event, TEXT, attempt);
        if let (Some(producer), true) = (&mut self.producer, attempt != Attempt::Repeat) {
            producer.pending = Some(event);
        }
        for _ in 0..SHED_RETRIES_MAX {
            let response = connection.call(&request)?;
            if response.status != 503 {
                return self.judge(event, attempt, &response);
            }
            let unknown = response.text().contains("outcome_unknown");
            if self.producer.is_none() {
                let outcome = if unknown { Outcome::Unknown } else { Outcome::Refused };
                self.log.outcomes.insert(event.number, outcome);
                return Ok(());
            }
            if unknown && attempt == Attempt::First {
                attempt = Attempt::Retry;
            }
            pause(SHED_PAUSE);
        }
        Err(io::Error::other(format!("event {event} was shed {SHED_RETRIES_MAX} times")))
    }

    fn judge(&mut self, event: EventId, attempt: Attempt, response: &Response) -> io::Result<()> {
        let (request, statuses, expected): (_, &[u16], _) = match (&self.producer, attempt) {
            (None, _) => ("an append", &[200, 204], "204"),
            (Some(_), Attempt::First) => ("a producer's append", &[200], "200"),
            (Some(_), Attempt::Retry) => ("a producer's retry", &[200, 204], "200 or 204"),
            (Some(_), Attempt::Repeat) => ("a producer's repeat of an ack", &[204], "204"),
        };
        if !statuses.contains(&response.status) {
            return Err(self.wrong_answer(event, request, expected, response));
        }
        self.log.outcomes.insert(event.number, Outcome::Acked);
        if let (Some(producer), true) = (&mut self.producer, attempt != Attempt::Repeat) {
            producer.seq_next += 1;
            producer.pending = None;
            producer.acked = Some(event);
        }
        Ok(())
    }

    fn wrong_answer(
        &mut self,
        event: EventId,
        request: &'static str,
        expected: &'static str,
        response: &Response,
    ) -> io::Error {
        let (status, body) = (response.status, response.text());
        let violation = Violation::Answer { event, request, status, expected, body };
        self.log.violations.push(violation);
        io::Error::other("the answer was wrong")
    }

    fn new_event(&mut self, outcome: Outcome) -> EventId {
        let event = EventId { connection: self.log.connection, number: self.number_next };
        self.number_next += 1;
        self.log.outcomes.insert(event.number, outcome);
        event
    }

    fn request(&self, event: EventId, content_type: &str, attempt: Attempt) -> Request {
        let request = Request::new("POST", &self.target)
            .header("Content-Type", content_type)
            .body(event.payload());
        let Some(producer) = &self.producer else {
            return request;
        };
        let seq = match attempt {
            Attempt::Repeat => producer.seq_next.saturating_sub(1),
            Attempt::First | Attempt::Retry => producer.seq_next,
        };
        request
            .header("Producer-Id", &producer.id)
            .header("Producer-Epoch", "0")
            .header("Producer-Seq", &seq.to_string())
    }
}
