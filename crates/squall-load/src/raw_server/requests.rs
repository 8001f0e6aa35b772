//! Counts the requests in a stream of bytes, wherever the network cut it.

use memchr::memmem;

use super::head::{Head, Next};

/// The longest head that is read, in bytes. A longer one ends the connection.
pub(super) const HEAD_BYTES_MAX: usize = 64 * 1024;
/// What ends a head (RFC 9112 §2.1).
const HEAD_END: &[u8] = b"\r\n\r\n";

/// The requests of one connection.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// The head that an earlier read began.
    partial: Vec<u8>,
    /// The last head, since generators send the same one for ever: then a comparison is all
    /// that a request costs.
    last_head: Vec<u8>,
    last: Option<Head>,
    /// A head was read, and this much of its body is still to come.
    body_left: Option<u64>,
    /// Whether the replies say `keep-alive`. The first request decides for all.
    tells_keep_alive: Option<bool>,
    is_ended: bool,
}

impl Requests {
    /// Takes the next bytes of the connection and returns how many requests they complete.
    pub(super) fn count(&mut self, mut input: &[u8]) -> usize {
        let mut completed = 0;
        while !self.is_ended {
            if let Some(left) = self.body_left {
                let Some(rest) = self.step_over_body(left, input) else { break };
                input = rest;
                completed += 1;
            } else if input.is_empty() {
                break;
            } else {
                input = self.read_head(input);
            }
        }
        completed
    }

    /// Whether no more requests are to be read: the last one asked for it, or no one knows
    /// where the next one starts.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Whether the client waits to be told that the connection stays.
    pub(super) fn tells_keep_alive(&self) -> bool {
        self.tells_keep_alive.unwrap_or(false)
    }

    /// Returns what follows the body, if it ends in `input`.
    fn step_over_body<'a>(&mut self, left: u64, input: &'a [u8]) -> Option<&'a [u8]> {
        let rest = usize::try_from(left).ok().and_then(|left| input.get(left..));
        match rest {
            Some(_) => {
                self.body_left = None;
                self.is_ended = self.last.is_none_or(|head| head.next == Next::End);
            }
            None => {
                let length = u64::try_from(input.len()).unwrap_or(u64::MAX);
                self.body_left = Some(left.saturating_sub(length));
            }
        }
        rest
    }

    /// Takes a head off `input`, or as much of it as there is, and returns what follows.
    fn read_head<'a>(&mut self, input: &'a [u8]) -> &'a [u8] {
        if !self.partial.is_empty() {
            return self.read_on(input);
        }
        if let (Some(rest), Some(head)) = (input.strip_prefix(&self.last_head[..]), self.last) {
            self.body_left = Some(head.body_bytes);
            return rest;
        }
        match memmem::find(input, HEAD_END) {
            Some(end) => {
                let (head, rest) = input.split_at(end + HEAD_END.len());
                self.last_head.clear();
                self.last_head.extend_from_slice(head);
                self.judge();
                rest
            }
            None => {
                self.partial.extend_from_slice(input);
                self.is_ended = self.partial.len() > HEAD_BYTES_MAX;
                &[]
            }
        }
    }

    /// As [`read_head`](Self::read_head), for a head that an earlier read began.
    fn read_on<'a>(&mut self, input: &'a [u8]) -> &'a [u8] {
        let before = self.partial.len();
        let room = HEAD_BYTES_MAX.saturating_sub(before);
        self.partial.extend_from_slice(input.get(..room).unwrap_or(input));
        // The end may have begun in the earlier read, but was not complete there.
        let search_from = before.saturating_sub(HEAD_END.len() - 1);
        let Some(end) = memmem::find(&self.partial[search_from..], HEAD_END) else {
            self.is_ended = self.partial.len() >= HEAD_BYTES_MAX;
            return &[];
        };
        let head_len = search_from + end + HEAD_END.len();
        self.partial.truncate(head_len);
        std::mem::swap(&mut self.partial, &mut self.last_head);
        self.partial.clear();
        self.judge();
        input.get(head_len - before..).unwrap_or_default()
    }

    /// Decides what the last head means. It was not seen before on this connection, or not
    /// just before.
    fn judge(&mut self) {
        // Empty lines before a request are stepped over (RFC 9112 §2.2).
        let mut head = &self.last_head[..];
        while let Some(rest) = head.strip_prefix(b"\r\n") {
            head = rest;
        }
        if head.is_empty() {
            self.last = None;
            return;
        }
        self.last = Head::parse(head);
        let Some(head) = &mut self.last else {
            self.is_ended = true;
            return;
        };
        let asks_to_be_told = head.next == Next::RequestIfTold;
        let is_told = *self.tells_keep_alive.get_or_insert(asks_to_be_told);
        if asks_to_be_told && !is_told {
            // All replies of a connection are alike, and its first request had no need of it.
            head.next = Next::End;
        }
        self.body_left = Some(head.body_bytes);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const OLD: &str = "GET / HTTP/1.0\r\n\r\n";
    const OLD_KEPT: &str = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";

    /// Counts in whole and byte by byte, which must agree.
    fn check(input: &str, expected: usize, is_ended: bool) {
        let mut whole = Requests::default();
        assert_eq!(whole.count(input.as_bytes()), expected, "{input:?}");
        assert_eq!(whole.is_ended(), is_ended, "{input:?}");
        let mut bytewise = Requests::default();
        let sum: usize = input.as_bytes().chunks(1).map(|byte| bytewise.count(byte)).sum();
        assert_eq!(sum, expected, "byte by byte: {input:?}");
        assert_eq!(bytewise.is_ended(), is_ended, "byte by byte: {input:?}");
    }

    #[test]
    fn requests_are_counted_once_complete() {
        check("", 0, false);
        check("GET / HTTP/1.1\r\nHost: a\r\n\r", 0, false);
        check(GET, 1, false);
        check(&GET.repeat(40), 40, false);
        check(&format!("{GET}GET /b HTTP/1.1\r\n\r\n{GET}"), 3, false);
        check(&format!("\r\n{GET}\r\n\r\n{GET}\r\n\r\n\r\n{GET}"), 3, false);
    }

    #[test]
    fn bodies_are_stepped_over_whatever_is_in_them() {
        let post =
            |body: &str| format!("POST / HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        check(&post(""), 1, false);
        check(&post("x\r\n\r\ny"), 1, false);
        check(&format!("{}{}{GET}", post(GET), post(OLD)), 3, false);
        check("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcd", 0, false);
        check(&format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\nabcd", u64::MAX), 0, false);
    }

    #[test]
    fn nothing_is_read_behind_the_last_request() {
        check(&format!("{GET}GET / HTTP/1.1\r\nConnection: close\r\n\r\n{GET}"), 2, true);
        check(&format!("{OLD}{GET}"), 1, true);
        check(&OLD_KEPT.repeat(3), 3, false);
        check(&format!("{OLD_KEPT}{GET}{OLD_KEPT}{OLD}{GET}"), 4, true);
        check(&format!("{GET}{OLD_KEPT}{GET}"), 2, true);
        check("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 1, true);
        check("nonsense\r\n\r\n", 0, true);
        check(&format!("{GET}nonsense\r\n\r\n{GET}"), 1, true);
    }

    #[test]
    fn only_old_clients_are_told_that_the_connection_stays() {
        let check = |input: &str, expected: bool| {
            let mut requests = Requests::default();
            requests.count(input.as_bytes());
            assert_eq!(requests.tells_keep_alive(), expected, "{input:?}");
        };
        check(GET, false);
        check(OLD, false);
        check(OLD_KEPT, true);
        check(&format!("{GET}{OLD_KEPT}"), false);
    }

    #[test]
    fn an_endless_head_ends_the_connection() {
        let endless = format!("GET /{} HTTP/1.1\r\n", "a".repeat(HEAD_BYTES_MAX));
        for portion in [endless.len(), 1_000, 1] {
            let mut requests = Requests::default();
            for bytes in endless.as_bytes().chunks(portion) {
                assert_eq!(requests.count(bytes), 0);
            }
            assert!(requests.is_ended(), "{portion}");
            assert!(requests.partial.len() <= 2 * HEAD_BYTES_MAX);
        }
    }

    proptest! {
        /// TCP may cut the bytes anywhere; the count must be the same.
        #[test]
        fn counting_ignores_borders(
            parts in vec(select(vec![
                GET, OLD, OLD_KEPT, "\r\n", "x", "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
                "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "\r\n\r\n",
            ]), 0..12),
            portion in 1..50_usize,
        ) {
            let wire = parts.concat();
            let mut whole = Requests::default();
            let expected = whole.count(wire.as_bytes());
            let mut cut = Requests::default();
            let sum: usize = wire.as_bytes().chunks(portion).map(|bytes| cut.count(bytes)).sum();
            prop_assert_eq!(sum, expected);
            prop_assert_eq!(cut.is_ended(), whole.is_ended());
        }

        /// Any bytes at all are survived.
        #[test]
        fn any_bytes_are_survived(portions in vec(vec(any::<u8>(), 0..40), 0..10)) {
            let mut requests = Requests::default();
            for portion in portions {
                requests.count(&portion);
            }
        }
    }
}
