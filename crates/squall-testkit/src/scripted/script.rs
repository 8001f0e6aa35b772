//! What a server does to a connection, step by step.

use std::sync::Arc;
use std::time::Duration;

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Waits for one whole request: its head, and its body by `Content-Length` or in chunks.
    Request,
    /// Waits for so many whole requests.
    Requests(usize),
    /// Sends bytes, in as few writes as the socket takes.
    Send(Vec<u8>),
    /// Sends bytes in portions that the client may well read one by one.
    SendSplit {
        /// What to send.
        bytes: Vec<u8>,
        /// Bytes per write, at least 1.
        portion: usize,
        /// Rest between two writes; zero gives way to other threads only.
        pause: Duration,
    },
    /// Lets time pass, from the end of the step before.
    Wait(Duration),
    /// Replies 200 with the body of the request that was read last.
    Echo,
    /// Ends the connection with a FIN behind what was sent.
    ///
    /// What the client sent and no step read is thrown away first, as it would turn the FIN
    /// into a reset; what arrives later is answered by a reset, as always in TCP.
    Close,
    /// Sends a FIN and goes on with the next step, which may still read.
    HalfClose,
    /// Ends the connection with a RST. On a Unix socket, which has none, it is cut.
    Reset,
    /// Keeps the connection open and reads nothing until the server stops.
    Stall,
    /// Reads and forgets until the client closes, which ends the script.
    Drain,
}

/// What comes after the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The first step again.
    Repeat,
    /// As [`Step::Close`].
    Close,
    /// As [`Step::Stall`].
    Stall,
}

/// What a server does to its connections, in the order in which it accepts them.
///
/// The part given last serves all further connections too. With none at all, connections
/// stall.
///
/// ```
/// use squall_testkit::scripted::{After, Script, Step, reply};
///
/// let script = Script::new()
///     .connection([Step::Request, Step::Reset], After::Close)
///     .each_connection([Step::Request, Step::Send(reply(200, "ok"))])
///     .then(After::Repeat);
/// # let _ = script;
/// ```
#[derive(Clone, Debug)]
pub struct Script {
    programs: Vec<Arc<Program>>,
    keeps_requests: bool,
}

/// The part of a script that one connection gets.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) after: After,
}

impl Script {
    /// A script without parts, which keeps the requests that it reads.
    #[must_use]
    pub fn new() -> Self {
        Self { programs: Vec::new(), keeps_requests: true }
    }

    /// Sets what the next connection gets. An empty part that repeats stalls.
    #[must_use]
    pub fn connection(mut self, steps: impl Into<Vec<Step>>, after: After) -> Self {
        self.programs.push(Arc::new(Program { steps: steps.into(), after }));
        self
    }

    /// Sets what all further connections get. They are closed at its end, unless
    /// [`Script::then`] says otherwise.
    #[must_use]
    pub fn each_connection(self, steps: impl Into<Vec<Step>>) -> Self {
        self.connection(steps, After::Close)
    }

    /// Sets what comes after the steps given last.
    #[must_use]
    pub fn then(mut self, after: After) -> Self {
        if let Some(program) = self.programs.last_mut() {
            Arc::make_mut(program).after = after;
        }
        self
    }

    /// Sets whether the record holds the head and body of each request; it does by default.
    #[must_use]
    pub fn keep_requests(mut self, keeps_requests: bool) -> Self {
        self.keeps_requests = keeps_requests;
        self
    }

    pub(super) fn keeps_requests(&self) -> bool {
        self.keeps_requests
    }

    /// The part of the connection that was accepted as number `index`, from 0.
    pub(super) fn program(&self, index: usize) -> Arc<Program> {
        let found = self.programs.get(index).or(self.programs.last());
        found.map_or_else(
            || Arc::new(Program { steps: Vec::new(), after: After::Stall }),
            Arc::clone,
        )
    }
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_serves_all_further_connections() {
        let script = Script::new()
            .connection([Step::Request], After::Stall)
            .each_connection([Step::Echo])
            .then(After::Repeat);
        let parts: Vec<_> = (0..4).map(|index| script.program(index)).collect();
        assert_eq!(parts[0].steps, [Step::Request]);
        assert_eq!(parts[0].after, After::Stall);
        for part in &parts[1..] {
            assert_eq!(part.steps, [Step::Echo]);
            assert_eq!(part.after, After::Repeat);
        }
        assert_eq!(Script::new().program(0).after, After::Stall);
    }
}
