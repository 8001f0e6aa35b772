//! The one reply, many times over, so that any number of requests is answered by one write.

/// The reply to every request.
pub(super) const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\nContent-Type: text/plain\r\n\r\nHello, world!";

/// The same for clients of HTTP/1.0, which wait for the end of the connection unless told that
/// there is none (RFC 9112 §9.3).
pub(super) const REPLY_KEEP_ALIVE: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\nContent-Type: text/plain\r\n\
      Connection: keep-alive\r\n\r\nHello, world!";

/// Copies in one block: more requests than a read of pipelined ones usually holds, and a block
/// that stays in the processor's cache.
const COPIES: usize = 512;

/// One reply over and over. A connection owes a number of bytes of it, and nothing else.
#[derive(Debug)]
pub(super) struct Replies {
    block: Vec<u8>,
    reply_len: usize,
}

impl Replies {
    pub(super) fn new(reply: &[u8]) -> Self {
        Self { block: reply.repeat(COPIES), reply_len: reply.len() }
    }

    /// Bytes of `count` replies.
    pub(super) fn bytes(&self, count: usize) -> usize {
        count.saturating_mul(self.reply_len)
    }

    /// The next bytes to send when `owed` are, or as many of them as are in the block. What is
    /// owed ends with the end of a reply, which tells where in one it starts.
    pub(super) fn next(&self, owed: usize) -> &[u8] {
        let sent_of_first = (self.reply_len - owed % self.reply_len) % self.reply_len;
        let rest = self.block.get(sent_of_first..).unwrap_or_default();
        rest.get(..owed).unwrap_or(rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However the kernel cuts the writes, whole replies arrive, one behind the other.
        #[test]
        fn partial_writes_add_up_to_whole_replies(count in 0..1_500_usize, write_max in 1..90_000_usize) {
            let replies = Replies::new(REPLY);
            let mut owed = replies.bytes(count);
            let mut sent = Vec::new();
            while owed > 0 {
                let next = replies.next(owed);
                let written = &next[..next.len().min(write_max)];
                prop_assert!(!written.is_empty());
                sent.extend_from_slice(written);
                owed -= written.len();
            }
            prop_assert_eq!(sent, REPLY.repeat(count));
        }
    }

    #[test]
    fn the_length_of_the_body_is_told_right() {
        for reply in [REPLY, REPLY_KEEP_ALIVE] {
            let text = std::str::from_utf8(reply).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())));
        }
    }
}
