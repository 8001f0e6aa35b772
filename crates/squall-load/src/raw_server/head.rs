//! What a request's head says about where the request ends, and whether another may follow.

use memchr::{memchr, memrchr};

/// What the head of a request means for its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) body_bytes: u64,
    pub(super) next: Next,
}

/// What follows the request (RFC 9112 §9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Perhaps another request.
    Request,
    /// Perhaps another request, if the reply says so: HTTP/1.0 with `keep-alive`.
    RequestIfTold,
    /// Nothing: the reply is the last one.
    End,
}

/// What the header lines said so far.
#[derive(Default)]
struct Lines {
    content_length: Option<u64>,
    says_close: bool,
    says_keep_alive: bool,
    has_transfer_encoding: bool,
}

impl Head {
    /// Reads a head that ends with its empty line. `None` if it is not one of HTTP/1: then no
    /// one knows where the request ends.
    ///
    /// A body in chunks is not read: its request is the last one of the connection.
    pub(super) fn parse(head: &[u8]) -> Option<Self> {
        let mut rest = head;
        let is_old = is_http_1_0(line(&mut rest)?)?;
        let mut lines = Lines::default();
        while let Some(line) = line(&mut rest).filter(|line| !line.is_empty()) {
            lines.read(line)?;
        }
        let next = match lines {
            Lines { says_close: true, .. } | Lines { has_transfer_encoding: true, .. } => Next::End,
            Lines { says_keep_alive: true, .. } if is_old => Next::RequestIfTold,
            _ if is_old => Next::End,
            _ => Next::Request,
        };
        let length = lines.content_length.unwrap_or(0);
        Some(Self { body_bytes: if lines.has_transfer_encoding { 0 } else { length }, next })
    }
}

impl Lines {
    fn read(&mut self, line: &[u8]) -> Option<()> {
        let (name, from_colon) = line.split_at_checked(memchr(b':', line)?)?;
        let value = from_colon.get(1..)?.trim_ascii();
        // Of all names only these three have these lengths and matter here.
        match name.len() {
            14 if name.eq_ignore_ascii_case(b"content-length") => {
                let length = digits(value)?;
                // Two lengths that differ could be told apart by no one (RFC 9112 §6.3).
                if self.content_length.is_some_and(|other| other != length) {
                    return None;
                }
                self.content_length = Some(length);
            }
            10 if name.eq_ignore_ascii_case(b"connection") => {
                for option in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
                    self.says_close |= option.eq_ignore_ascii_case(b"close");
                    self.says_keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                self.has_transfer_encoding = true;
            }
            _ => {}
        }
        Some(())
    }
}

/// Takes the next line off `rest`, and its end off the line.
fn line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (line, from_end) = rest.split_at_checked(memchr(b'\n', rest)?)?;
    *rest = from_end.get(1..)?;
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

/// The version is the last word of the request line (RFC 9112 §3).
fn is_http_1_0(request_line: &[u8]) -> Option<bool> {
    match request_line.get(memrchr(b' ', request_line)? + 1..)? {
        b"HTTP/1.1" => Some(false),
        b"HTTP/1.0" => Some(true),
        _ => None,
    }
}

fn digits(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_where_its_request_ends() {
        let check = |head: &str, body_bytes: u64, next: Next| {
            let expected = Some(Head { body_bytes, next });
            assert_eq!(Head::parse(head.as_bytes()), expected, "{head:?}");
        };
        check("GET / HTTP/1.1\r\n\r\n", 0, Next::Request);
        check("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, Next::Request);
        check("POST / HTTP/1.1\r\nContent-Length: 12\r\n\r\n", 12, Next::Request);
        check("POST / HTTP/1.1\r\ncONTENT-lENGTH:7 \r\n\r\n", 7, Next::Request);
        check(
            "POST / HTTP/1.1\r\nContent-Length: 7\r\nContent-Length: 7\r\n\r\n",
            7,
            Next::Request,
        );
        check("POST / HTTP/1.1\r\nX-Content-Length: 7\r\n\r\n", 0, Next::Request);
        check("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 0, Next::End);
        check("GET / HTTP/1.1\r\nconnection: TE, Close\r\n\r\n", 0, Next::End);
        check("GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n", 0, Next::Request);
        check("GET / HTTP/1.0\r\n\r\n", 0, Next::End);
        check("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", 0, Next::RequestIfTold);
        check("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", 0, Next::End);
        check("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 0, Next::End);
        check("GET /a HTTP/1.0 HTTP/1.1\r\n\r\n", 0, Next::Request);
    }

    #[test]
    fn what_is_not_http_1_is_refused() {
        let check = |head: &str| assert_eq!(Head::parse(head.as_bytes()), None, "{head:?}");
        check("\r\n");
        check("hello\r\n\r\n");
        check("PRI * HTTP/2.0\r\n\r\n");
        check("GET / HTTP/1.1\r\nno colon\r\n\r\n");
        check("POST / HTTP/1.1\r\nContent-Length: \r\n\r\n");
        check("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n");
        check("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n");
        check("POST / HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n\r\n");
        check("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n");
    }
}
