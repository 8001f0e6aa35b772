//! Serves one connection with service times.

use std::collections::VecDeque;

use super::clock::monotonic_ns;
use super::conversation::{Arrival, Conversation};
use super::record::Ending;
use super::service::Timetable;
use super::stop::SPIN_NS_MAX;

/// Requests that wait for their turn. While there are more, the socket is left alone.
const WAITING_MAX: usize = 4096;
/// Bytes of replies in one write, unless a single one is longer.
const BATCH_BYTES_MAX: usize = 64 * 1024;

/// Replies with `reply` to each request by `timetable`; returns how the connection ended.
pub(super) fn serve(conversation: &mut Conversation, reply: &[u8], timetable: Timetable) -> Ending {
    let mut turns = Turns {
        conversation,
        reply,
        timetable,
        waiting: VecDeque::new(),
        service_ns: None,
        replied_at: 0,
        ending: None,
    };
    loop {
        if let Err(ending) = turns.turn() {
            return ending;
        }
    }
}

/// Requests in the order in which they came. Times are ns of the clock.
struct Turns<'c> {
    conversation: &'c mut Conversation,
    reply: &'c [u8],
    timetable: Timetable,
    /// When each waiting request had been read.
    waiting: VecDeque<u64>,
    /// How long the first of them takes, once that was drawn.
    service_ns: Option<u64>,
    /// When the last reply left.
    replied_at: u64,
    /// Why no request follows those that wait.
    ending: Option<Ending>,
}

impl Turns<'_> {
    /// Reads, then replies or waits. Reading goes on while replies wait, so that requests are
    /// stamped when they come.
    fn turn(&mut self) -> Result<(), Ending> {
        self.conversation.stop.check()?;
        let arrival = self.listen()?;
        let now = monotonic_ns();
        match (self.first_due(), &self.ending) {
            (Some(due_at), _) if due_at <= now => self.reply_until(now),
            (None, Some(ending)) => Err(ending.clone()),
            // There may be more than one read takes.
            _ if arrival == Arrival::Bytes => Ok(()),
            (Some(due_at), _) => self.rest_until(due_at, now),
            (None, None) => self.conversation.wait_readable(None),
        }
    }

    fn is_listening(&self) -> bool {
        self.ending.is_none() && self.waiting.len() < WAITING_MAX
    }

    fn listen(&mut self) -> Result<Arrival, Ending> {
        if !self.is_listening() {
            return Ok(Arrival::Nothing);
        }
        let arrival = self.conversation.read()?;
        match arrival {
            Arrival::Nothing => {}
            Arrival::End => self.ending = Some(Ending::ClientClosed),
            Arrival::Bytes => loop {
                match self.conversation.take() {
                    Ok(Some(request)) => self.waiting.push_back(request.read_at),
                    Ok(None) => break,
                    Err(ending) => {
                        self.ending = Some(ending);
                        break;
                    }
                }
            },
        }
        Ok(arrival)
    }

    fn first_due(&mut self) -> Option<u64> {
        let read_at = *self.waiting.front()?;
        let begun_at = read_at.max(self.replied_at);
        let service_ns = *self.service_ns.get_or_insert_with(|| self.timetable.draw_ns());
        Some(self.timetable.due(begun_at, service_ns))
    }

    /// Sends what is due at `now`, in one write.
    fn reply_until(&mut self, now: u64) -> Result<(), Ending> {
        let mut bytes = Vec::new();
        let mut due_times = Vec::new();
        while let Some(due_at) = self.first_due() {
            let is_full = !bytes.is_empty() && bytes.len() + self.reply.len() > BATCH_BYTES_MAX;
            if due_at > now || is_full {
                break;
            }
            due_times.push(due_at);
            bytes.extend_from_slice(self.reply);
            self.waiting.pop_front();
            self.service_ns = None;
            self.replied_at = now;
        }
        let replied_at = &mut self.replied_at;
        self.conversation.send(&bytes, |record, written_at| {
            *replied_at = written_at;
            for due_at in due_times {
                record.replied(Some(due_at), written_at);
            }
        })?;
        Ok(())
    }

    /// Sleeps, if it is worth it. Shortly before `due_at` the turns follow each other without.
    fn rest_until(&self, due_at: u64, now: u64) -> Result<(), Ending> {
        let sleep_until = due_at.saturating_sub(SPIN_NS_MAX);
        if now >= sleep_until {
            std::hint::spin_loop();
            return Ok(());
        }
        if self.is_listening() {
            self.conversation.wait_readable(Some(sleep_until))
        } else {
            self.conversation.stop.wait(None, Some(sleep_until))
        }
    }
}
