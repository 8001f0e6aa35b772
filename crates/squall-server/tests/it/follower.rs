//! A follower in a test: one open answer, read as a browser reads it.

use std::collections::VecDeque;

use squall_testkit::http::{Connection, Request, Response};
use squall_wire::sse::decode::{SseDecoder, SseItem};

use crate::support::TestServer;

/// One open follow.
pub(crate) struct Follower {
    pub(crate) head: Response,
    /// The wait before the next connection that the server last wished for, in ms.
    pub(crate) retry_ms: Option<u64>,
    /// Comments so far, which are heartbeats.
    pub(crate) heartbeats: usize,
    connection: Connection,
    decoder: SseDecoder,
    pending: VecDeque<Message>,
}

/// One message that fires an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) data: String,
}

/// A message without a name.
pub(crate) fn message(id: &str, data: &str) -> Message {
    named("message", id, data)
}

/// A message with a name.
pub(crate) fn named(event: &str, id: &str, data: &str) -> Message {
    Message { id: id.into(), event: event.into(), data: data.into() }
}

impl Follower {
    /// Follows `target`, which must be there.
    pub(crate) fn open(server: &TestServer, target: &str) -> Self {
        Self::ask(server, &Request::new("GET", target))
    }

    /// Follows as a browser does that connects again with the id it saw last.
    pub(crate) fn resume(server: &TestServer, target: &str, id: &str) -> Self {
        Self::ask(server, &Request::new("GET", target).header("Last-Event-ID", id))
    }

    /// Sends `request` and follows the answer.
    pub(crate) fn ask(server: &TestServer, request: &Request) -> Self {
        let follower = Self::on(server.connect(), request);
        assert_eq!(follower.head.status, 200);
        assert_eq!(follower.head.header("Content-Type"), Some("text/event-stream"));
        follower
    }

    /// Sends `request` over `connection`.
    pub(crate) fn on(mut connection: Connection, request: &Request) -> Self {
        connection.send(request).unwrap();
        let head = connection.receive_head().unwrap();
        Self {
            head,
            retry_ms: None,
            heartbeats: 0,
            connection,
            decoder: SseDecoder::default(),
            pending: VecDeque::new(),
        }
    }

    /// The next message; none at the end of the answer.
    pub(crate) fn next(&mut self) -> Option<Message> {
        while self.pending.is_empty() {
            self.chunk()?;
        }
        self.pending.pop_front()
    }

    /// The next message, which must come.
    pub(crate) fn message(&mut self) -> Message {
        self.next().expect("the answer ended")
    }

    /// Checks that the answer ends here, between two messages.
    pub(crate) fn assert_ended(mut self) -> Self {
        assert_eq!(self.next(), None);
        assert!(self.decoder.is_at_border());
        self
    }

    /// Every message up to the end of the answer.
    pub(crate) fn rest(&mut self) -> Vec<Message> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// The next chunk as it came, also noted; none at the end of the answer.
    pub(crate) fn chunk(&mut self) -> Option<String> {
        let chunk = self.connection.receive_chunk().unwrap();
        if chunk.is_empty() {
            return None;
        }
        let mut input = &chunk[..];
        while let Some(item) = self.decoder.decode(&mut input).unwrap() {
            match item {
                SseItem::Event(event) => self.pending.push_back(Message {
                    id: event.last_event_id.to_owned(),
                    event: event.event.to_owned(),
                    data: event.data.to_owned(),
                }),
                SseItem::Comment(_) => self.heartbeats += 1,
                SseItem::Retry(wait) => self.retry_ms = Some(wait),
                _ => {}
            }
        }
        Some(String::from_utf8(chunk).unwrap())
    }

    /// What a browser would send as `Last-Event-ID` now.
    pub(crate) fn cursor(&self) -> &str {
        self.decoder.last_event_id()
    }
}
