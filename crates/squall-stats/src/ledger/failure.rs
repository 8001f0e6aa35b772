//! How requests fail.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How one request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// No connection could be opened: the name of the errno, such as `ECONNREFUSED`, or `timeout`.
    Connect(&'static str),
    /// The TLS handshake failed.
    Tls,
    /// The connection was reset.
    Reset,
    /// The server closed the connection before a byte of this reply.
    Closed,
    /// The server closed the connection inside this reply.
    Truncated,
    /// The reply was not complete in time.
    Timeout,
    /// The status code is not an accepted one.
    Status,
    /// The body is not the expected one.
    Body,
    /// The bytes are not an HTTP reply.
    Framing,
}

/// Failed requests by kind. The fields are the kinds of [`Failure`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// No connection could be opened, by the name of the errno or `timeout`.
    pub connect: BTreeMap<String, u64>,
    /// The TLS handshake failed.
    pub tls: u64,
    /// The connection was reset.
    pub reset: u64,
    /// The server closed the connection before a byte of the reply.
    pub closed: u64,
    /// The server closed the connection inside the reply.
    pub truncated: u64,
    /// The reply was not complete in time.
    pub timeout: u64,
    /// The status code was not an accepted one.
    pub status: u64,
    /// The body was not the expected one.
    pub body: u64,
    /// The bytes were not an HTTP reply.
    pub framing: u64,
}

impl Failures {
    /// Counts one failure.
    pub fn record(&mut self, failure: Failure) {
        let count = match failure {
            Failure::Connect(name) => return self.add_connect(name, 1),
            Failure::Tls => &mut self.tls,
            Failure::Reset => &mut self.reset,
            Failure::Closed => &mut self.closed,
            Failure::Truncated => &mut self.truncated,
            Failure::Timeout => &mut self.timeout,
            Failure::Status => &mut self.status,
            Failure::Body => &mut self.body,
            Failure::Framing => &mut self.framing,
        };
        *count += 1;
    }

    /// All failures; the largest number if they are more than it.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.nonzero().fold(0, |total, (_, count)| total.saturating_add(count))
    }

    /// Adds the failures of another run or thread.
    pub fn merge(&mut self, other: &Self) {
        for (name, count) in &other.connect {
            self.add_connect(name, *count);
        }
        self.tls += other.tls;
        self.reset += other.reset;
        self.closed += other.closed;
        self.truncated += other.truncated;
        self.timeout += other.timeout;
        self.status += other.status;
        self.body += other.body;
        self.framing += other.framing;
    }

    /// The kinds that occurred, each with its label and its count: `connect ECONNREFUSED`,
    /// `timeout`.
    pub fn nonzero(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        let connect = self.connect.iter().map(|(name, count)| (format!("connect {name}"), *count));
        let others = [
            ("tls", self.tls),
            ("reset", self.reset),
            ("closed", self.closed),
            ("truncated", self.truncated),
            ("timeout", self.timeout),
            ("status", self.status),
            ("body", self.body),
            ("framing", self.framing),
        ];
        let others = others.into_iter().map(|(label, count)| (label.to_owned(), count));
        connect.chain(others).filter(|(_, count)| *count > 0)
    }

    /// Copies the name only the first time: a refused port may fail a million requests.
    fn add_connect(&mut self, name: &str, added: u64) {
        match self.connect.get_mut(name) {
            Some(count) => *count += added,
            None => {
                self.connect.insert(name.to_owned(), added);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Failure; 10] = [
        Failure::Connect("ECONNREFUSED"),
        Failure::Connect("timeout"),
        Failure::Tls,
        Failure::Reset,
        Failure::Closed,
        Failure::Truncated,
        Failure::Timeout,
        Failure::Status,
        Failure::Body,
        Failure::Framing,
    ];

    #[test]
    fn every_kind_has_a_label_of_its_own() {
        let mut failures = Failures::default();
        KINDS.into_iter().for_each(|kind| failures.record(kind));
        let labels: Vec<String> = failures.nonzero().map(|(label, _)| label).collect();
        let expected = [
            "connect ECONNREFUSED",
            "connect timeout",
            "tls",
            "reset",
            "closed",
            "truncated",
            "timeout",
            "status",
            "body",
            "framing",
        ];
        assert_eq!(labels, expected);
        assert_eq!(failures.total(), 10);
    }

    #[test]
    fn kinds_that_did_not_occur_are_left_out() {
        let mut failures = Failures::default();
        assert_eq!(failures.nonzero().count(), 0);
        failures.record(Failure::Timeout);
        failures.record(Failure::Timeout);
        assert_eq!(failures.nonzero().collect::<Vec<_>>(), [("timeout".to_owned(), 2)]);
    }

    #[test]
    fn counts_from_a_file_do_not_overflow() {
        let huge = Failures { tls: u64::MAX, reset: 1, ..Failures::default() };
        assert_eq!(huge.total(), u64::MAX);
    }
}
