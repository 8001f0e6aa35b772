//! One connection: sends requests, frames responses.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::message::{Request, Response, malformed, parse_head};

/// Longest wait for a peer to accept, to take or to give bytes, unless a test sets another.
pub const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
/// Longest response head.
const HEAD_BYTES_MAX: usize = 256 * 1024;
/// Longest response body.
const BODY_BYTES_MAX: usize = 512 * 1024 * 1024;

/// One connection to a server.
#[derive(Debug)]
pub struct Connection {
    socket: TcpStream,
    /// Bytes that came and were not consumed.
    received: Vec<u8>,
    host: String,
}

impl Connection {
    /// Connects, with [`TIMEOUT_DEFAULT`] on everything.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpStream::connect_timeout(&address, TIMEOUT_DEFAULT)?;
        socket.set_nodelay(true)?;
        let connection = Self { socket, received: Vec::new(), host: address.to_string() };
        connection.set_timeout(TIMEOUT_DEFAULT)?;
        Ok(connection)
    }

    /// Sets the longest wait of one read or one write.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn set_timeout(&self, limit: Duration) -> io::Result<()> {
        self.socket.set_read_timeout(Some(limit))?;
        self.socket.set_write_timeout(Some(limit))
    }

    /// Sends `request` and reads its response.
    ///
    /// # Errors
    /// The connection failed or ended, timed out, or the response is malformed.
    pub fn call(&mut self, request: &Request) -> io::Result<Response> {
        self.send(request)?;
        self.receive(&request.method)
    }

    /// Sends `request` without reading.
    ///
    /// # Errors
    /// The connection failed or timed out.
    pub fn send(&mut self, request: &Request) -> io::Result<()> {
        let bytes = request.encode(&self.host);
        self.send_bytes(&bytes)
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// The connection failed or timed out.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write_all(bytes)
    }

    /// Reads the final response to a request with `method` (`HEAD` has no body).
    ///
    /// # Errors
    /// The connection failed or ended, timed out, or the response is malformed.
    pub fn receive(&mut self, method: &str) -> io::Result<Response> {
        let mut response = self.receive_head()?;
        if method == "HEAD" || matches!(response.status, 204 | 304) {
            return Ok(response);
        }
        response.body = if response.is_chunked() {
            self.read_chunked()?
        } else if let Some(length) = response.header("content-length") {
            self.read_exactly(parse_size(length, 10)?)?
        } else {
            self.read_to_end()?
        };
        Ok(response)
    }

    /// Reads the head of the final response and leaves its body on the connection, to be
    /// read with [`Connection::receive_chunk`]: the way to follow a stream.
    ///
    /// # Errors
    /// The connection failed or ended, timed out, or the head is malformed.
    pub fn receive_head(&mut self) -> io::Result<Response> {
        loop {
            let head = self.read_through(b"\r\n\r\n", HEAD_BYTES_MAX)?;
            let response = parse_head(&head)?;
            if response.status >= 200 {
                return Ok(response);
            }
        }
    }

    /// Reads one chunk of a chunked body; empty at its end.
    ///
    /// # Errors
    /// The connection failed or ended, timed out, or the chunk is malformed.
    pub fn receive_chunk(&mut self) -> io::Result<Vec<u8>> {
        let line = self.read_through(b"\r\n", HEAD_BYTES_MAX)?;
        let text = String::from_utf8_lossy(&line);
        let size = parse_size(text.split(';').next().unwrap_or_default(), 16)?;
        if size == 0 {
            while self.read_through(b"\r\n", HEAD_BYTES_MAX)? != b"\r\n" {}
            return Ok(Vec::new());
        }
        let chunk = self.read_exactly(size)?;
        if self.read_exactly(2)? != b"\r\n" {
            return Err(malformed("a chunk is longer than it says"));
        }
        Ok(chunk)
    }

    fn read_chunked(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let chunk = self.receive_chunk()?;
            if chunk.is_empty() {
                return Ok(body);
            }
            body.extend_from_slice(&chunk);
            if body.len() > BODY_BYTES_MAX {
                return Err(malformed("the body is too long"));
            }
        }
    }

    fn read_to_end(&mut self) -> io::Result<Vec<u8>> {
        while self.fill()? > 0 {
            if self.received.len() > BODY_BYTES_MAX {
                return Err(malformed("the body is too long"));
            }
        }
        Ok(std::mem::take(&mut self.received))
    }

    fn read_exactly(&mut self, size: usize) -> io::Result<Vec<u8>> {
        if size > BODY_BYTES_MAX {
            return Err(malformed("the body is too long"));
        }
        while self.received.len() < size {
            self.fill_some()?;
        }
        Ok(self.received.drain(..size).collect())
    }

    /// Reads up to and with `mark`, of at most `bytes_max` bytes.
    fn read_through(&mut self, mark: &[u8], bytes_max: usize) -> io::Result<Vec<u8>> {
        let mut searched = 0;
        loop {
            let found = self.received[searched..].windows(mark.len()).position(|w| w == mark);
            if let Some(position) = found {
                return Ok(self.received.drain(..searched + position + mark.len()).collect());
            }
            if self.received.len() > bytes_max {
                return Err(malformed("a line or head is too long"));
            }
            searched = self.received.len().saturating_sub(mark.len() - 1);
            self.fill_some()?;
        }
    }

    fn fill_some(&mut self) -> io::Result<()> {
        match self.fill()? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    fn fill(&mut self) -> io::Result<usize> {
        let mut buffer = [0; 16 * 1024];
        let count = self.socket.read(&mut buffer)?;
        self.received.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

/// Sends one request over a connection of its own.
///
/// # Errors
/// The connection failed or ended, timed out, or the response is malformed.
pub fn call(address: SocketAddr, request: &Request) -> io::Result<Response> {
    Connection::open(address)?.call(request)
}

fn parse_size(text: &str, radix: u32) -> io::Result<usize> {
    let size = usize::from_str_radix(text.trim(), radix);
    size.map_err(|error| malformed(&format!("not a size, {text:?}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    /// Serves `reply` to one connection, byte by byte, then closes it.
    fn answer(reply: &'static str) -> Connection {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            socket.set_nodelay(true).unwrap();
            for byte in reply.as_bytes() {
                socket.write_all(&[*byte]).unwrap();
            }
        });
        Connection::open(address).unwrap()
    }

    fn check(reply: &'static str, method: &str, bodies: &[&str]) {
        let mut connection = answer(reply);
        for body in bodies {
            assert_eq!(connection.receive(method).unwrap().text(), *body, "{reply:?}");
        }
    }

    #[test]
    fn bodies_are_framed_by_length_chunks_or_close() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "GET", &["ab"]);
        check("HTTP/1.1 200 OK\r\n\r\nuntil the end", "GET", &["until the end"]);
        check("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "HEAD", &[""]);
        check("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 204 x\r\n\r\n", "POST", &["", ""]);
        let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
            2;x=y\r\nab\r\n1\r\nc\r\n0\r\nTrailer: t\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        check(chunked, "GET", &["abc", ""]);
    }

    #[test]
    fn an_interim_response_is_passed_over() {
        let reply =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(answer(reply).receive("POST").unwrap().status, 409);
    }

    #[test]
    fn a_cut_response_is_an_error() {
        let mut connection = answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
        let error = connection.receive("GET").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
