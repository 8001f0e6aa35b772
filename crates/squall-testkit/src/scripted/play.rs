//! Plays a script on one connection.

use std::thread;
use std::time::Duration;

use super::conversation::{Arrival, Conversation};
use super::record::{ConnectionRecord, Ending};
use super::reply::reply;
use super::script::{After, Program, Step};

/// Plays `program` to its end; returns how the connection is to end.
pub(super) fn play(conversation: &mut Conversation, program: &Program) -> Ending {
    let mut player = Player { conversation, body: Vec::new() };
    loop {
        for step in &program.steps {
            if let Err(ending) = player.step(step) {
                return ending;
            }
        }
        let after = if program.steps.is_empty() { After::Stall } else { program.after };
        match after {
            After::Repeat => {}
            After::Close => return Ending::ScriptClosed,
            After::Stall => return player.stall(),
        }
    }
}

struct Player<'c> {
    conversation: &'c mut Conversation,
    /// The body of the request that was read last.
    body: Vec<u8>,
}

impl Player<'_> {
    fn step(&mut self, step: &Step) -> Result<(), Ending> {
        // A script without a wait must end with the server too.
        self.conversation.stop.check()?;
        match step {
            Step::Request => self.request(),
            Step::Requests(count) => (0..*count).try_for_each(|_| self.request()),
            Step::Send(bytes) => self.send(bytes),
            Step::SendSplit { bytes, portion, pause } => self.send_split(bytes, *portion, *pause),
            Step::Wait(duration) => self.conversation.stop.pause(*duration),
            Step::Echo => self.send(&reply(200, &self.body)),
            Step::Close => Err(Ending::ScriptClosed),
            Step::HalfClose => self.conversation.half_close(),
            Step::Reset => Err(Ending::ScriptReset),
            Step::Stall => Err(self.stall()),
            Step::Drain => self.drain(),
        }
    }

    fn request(&mut self) -> Result<(), Ending> {
        let request = self.conversation.next()?;
        self.body = request.content.map(|content| content.body).unwrap_or_default();
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Ending> {
        self.conversation.send(bytes, ConnectionRecord::replied_to_all)
    }

    fn send_split(&mut self, bytes: &[u8], portion: usize, pause: Duration) -> Result<(), Ending> {
        let mut portions = bytes.chunks(portion.max(1)).peekable();
        while let Some(bytes) = portions.next() {
            if portions.peek().is_none() {
                return self.send(bytes);
            }
            self.conversation.send(bytes, |_, _| ())?;
            if pause.is_zero() {
                thread::yield_now();
            } else {
                self.conversation.stop.pause(pause)?;
            }
        }
        Ok(())
    }

    fn stall(&mut self) -> Ending {
        loop {
            if let Err(ending) = self.conversation.stop.wait(None, None) {
                return ending;
            }
        }
    }

    fn drain(&mut self) -> Result<(), Ending> {
        while self.conversation.discard()? != Arrival::End {}
        Err(Ending::ClientClosed)
    }
}
