//! Which HTTP a connection speaks, from its first bytes.

use std::io;

use tokio::io::AsyncReadExt;

use crate::door::socket::Socket;

/// What an HTTP/2 client with prior knowledge sends first (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes that the first read may take; a usual request fits.
const FIRST_READ_BYTES: usize = 2048;

/// The version of HTTP on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

/// Reads until the protocol is known; the bytes can be read again from `socket`.
///
/// Returns none if the peer left without a byte.
pub(crate) async fn sniff(socket: &mut Socket) -> io::Result<Option<Protocol>> {
    let mut first = Vec::with_capacity(FIRST_READ_BYTES);
    loop {
        let read = socket.reader().read_buf(&mut first).await?;
        if read > 0 {
            socket.state().received();
        }
        let known = first.len().min(PREFACE.len());
        let protocol = if first[..known] != PREFACE[..known] {
            Some(Protocol::Http1)
        } else if known == PREFACE.len() {
            Some(Protocol::Http2)
        } else if read == 0 {
            (!first.is_empty()).then_some(Protocol::Http1)
        } else {
            continue;
        };
        socket.put_back(first);
        return Ok(protocol);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_differs_from_the_preface_at_its_second_byte() {
        assert_eq!(PREFACE.len(), 24);
        assert_ne!(b"POST"[1], PREFACE[1]);
    }
}
