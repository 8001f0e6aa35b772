//! The quick way: a plain `GET /` is answered before hyper sees it.
//!
//! Pipelined, hyper's work on a request is several times that of the answer. A connection
//! that has sent nothing but plain requests for `/` is answered from here. The first byte
//! of anything else goes to hyper, and so does everything behind it: what a connection
//! sends is read by one of the two, never by both in turn, so they cannot disagree about
//! where a request begins.
//!
//! Limit: [`HEAD_BYTES_MAX`] of a head.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use crate::door::accept::{Handler, Recalled};

/// The one request line that is answered here.
const REQUEST_LINE: &[u8] = b"GET / HTTP/1.1\r\n";

/// Headers that change nothing about the answer. `host` is looked at.
const HARMLESS: [&str; 4] = ["user-agent", "accept", "accept-encoding", "accept-language"];

/// Headers of a request that is still plain.
const HEADERS_MAX: usize = 8;

/// Bytes of a head that is still plain.
const HEAD_BYTES_MAX: usize = 1024;

/// What a connection that is answered quickly needs.
pub(crate) struct Quick {
    handler: Arc<dyn Handler>,
    /// The last head that was found plain: most clients send the same again.
    known: Vec<u8>,
    date: String,
    date_s: u64,
    last: Option<Last>,
}

/// The last answer, for as long as it is the right one.
struct Last {
    body: Bytes,
    date_s: u64,
    encoded: Vec<u8>,
}

/// What bytes begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    /// A plain request of so many bytes.
    Plain(usize),
    /// Perhaps a plain request, of which more must come.
    Partial,
    /// Something else.
    Other,
}

impl Quick {
    pub(crate) fn new(handler: Arc<dyn Handler>) -> Self {
        Self { handler, known: Vec::new(), date: String::new(), date_s: 0, last: None }
    }

    /// What `bytes` begin with.
    pub(crate) fn look(&mut self, bytes: &[u8]) -> Begins {
        if !self.known.is_empty() && bytes.starts_with(&self.known) {
            return Begins::Plain(self.known.len());
        }
        let compared = bytes.len().min(REQUEST_LINE.len());
        if bytes[..compared] != REQUEST_LINE[..compared] {
            return Begins::Other;
        }
        let begins = self.parse(bytes);
        if let Begins::Plain(length) = begins {
            self.known.clear();
            self.known.extend_from_slice(&bytes[..length]);
        }
        begins
    }

    fn parse(&self, bytes: &[u8]) -> Begins {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(bytes) {
            Ok(httparse::Status::Complete(length)) if self.is_plain(&request) => {
                Begins::Plain(length)
            }
            Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => Begins::Partial,
            _ => Begins::Other,
        }
    }

    /// Whether the request names the server's own address, and asks for nothing special.
    fn is_plain(&self, request: &httparse::Request<'_, '_>) -> bool {
        let mut hosts = 0;
        for header in &*request.headers {
            if header.name.eq_ignore_ascii_case("host") {
                hosts += 1;
                if !self.handler.is_own_host(header.value) {
                    return false;
                }
            } else if !HARMLESS.iter().any(|name| header.name.eq_ignore_ascii_case(name)) {
                return false;
            }
        }
        hosts == 1
    }

    /// Appends an answer to `out`; false if it is not to be had from memory.
    pub(crate) fn answer(&mut self, out: &mut Vec<u8>) -> bool {
        let last = self.last.as_ref().filter(|last| last.date_s == self.date_s);
        match self.handler.recall(last.map(|last| &last.body)) {
            Recalled::Same => out.extend_from_slice(last.map_or(&[], |last| &last.encoded)),
            Recalled::Other(reply) => match reply.small_body() {
                Some(body) => {
                    let mut encoded = Vec::new();
                    reply.encode(&mut encoded, &self.date);
                    out.extend_from_slice(&encoded);
                    self.last = Some(Last { body, date_s: self.date_s, encoded });
                }
                None => return false,
            },
            Recalled::Nothing => return false,
        }
        true
    }

    /// Looks at the clock, for the `Date` of the answers that follow.
    pub(crate) fn tell_time(&mut self) {
        let now = SystemTime::now();
        let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if second != self.date_s || self.date.is_empty() {
            self.date = httpdate::fmt_http_date(now);
            self.date_s = second;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::door::answer::Answer;
    use crate::door::reply::Reply;
    use crate::door::request::Request;

    struct Nothing;

    impl Handler for Nothing {
        fn is_own_host(&self, host: &[u8]) -> bool {
            host == b"a:1"
        }

        fn recall(&self, _: Option<&Bytes>) -> Recalled {
            Recalled::Nothing
        }

        fn handle(&self, _: Request) -> Answer {
            Answer::Ready(Reply::new(http::StatusCode::OK))
        }
    }

    fn check(bytes: &str, expected: Begins) {
        let mut quick = Quick::new(Arc::new(Nothing));
        assert_eq!(quick.look(bytes.as_bytes()), expected, "{bytes:?}");
        // What was learnt from it changes nothing.
        assert_eq!(quick.look(bytes.as_bytes()), expected, "{bytes:?}");
    }

    #[test]
    fn plain_requests_are_told_from_all_others() {
        let plain = "GET / HTTP/1.1\r\nHost: a:1\r\nUser-Agent: x\r\n\r\n";
        check(plain, Begins::Plain(plain.len()));
        check(&format!("{plain}{plain}"), Begins::Plain(plain.len()));
        for length in 1..plain.len() {
            check(&plain[..length], Begins::Partial);
        }
        let others = [
            "POST / HTTP/1.1\r\n",
            "GET / HTTP/1.0\r\n",
            "GET /x HTTP/1.1\r\n",
            "GET  / HTTP/1.1\r\n",
            "GET /?a HTTP/1.1\r\n",
            "get / HTTP/1.1\r\n",
            "\r\nGET / HTTP/1.1\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a:1\r\nHost: a:1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a:1\r\nConnection: close\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a:1\r\nContent-Length: 3\r\n\r\nabc",
            "GET / HTTP/1.1\r\nHost: a:1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a:1\r\nOrigin: http://a:1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a:1\r\nExpect: 100-continue\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : a:1\r\n\r\n",
            "GET / HTTP/1.1\r\n Host: a:1\r\n\r\n",
        ];
        for other in others {
            check(other, Begins::Other);
        }
        check(&format!("GET / HTTP/1.1\r\nUser-Agent: {}", "x".repeat(2_000)), Begins::Other);
    }
}
