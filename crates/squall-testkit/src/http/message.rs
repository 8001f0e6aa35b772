//! Requests and responses, as values and as bytes.

use std::io;

/// A request as it will be written. `Host`, and `Content-Length` for a body, are added.
#[derive(Clone, Debug)]
pub struct Request {
    pub(super) method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// A request without headers and body.
    #[must_use]
    pub fn new(method: &str, target: &str) -> Self {
        Self { method: method.into(), target: target.into(), headers: Vec::new(), body: Vec::new() }
    }

    /// Adds one header line.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The bytes on the wire.
    #[must_use]
    pub fn encode(&self, host: &str) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: {host}\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() || matches!(self.method.as_str(), "POST" | "PUT") {
            head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// A response. Header names keep the case they came in.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Header lines in order of arrival.
    pub headers: Vec<(String, String)>,
    /// The body, without its transfer coding.
    pub body: Vec<u8>,
}

impl Response {
    /// The first header of that name, in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.headers.iter();
        lines.find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as text; what is not UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(super) fn is_chunked(&self) -> bool {
        let coding = self.header("transfer-encoding").unwrap_or_default();
        coding.to_ascii_lowercase().ends_with("chunked")
    }
}

/// Reads a whole head, with the empty line at its end.
pub(super) fn parse_head(head: &[u8]) -> io::Result<Response> {
    let text = str::from_utf8(head).map_err(|error| malformed(&error.to_string()))?;
    let mut lines = text.split("\r\n");
    let mut status_line = lines.next().unwrap_or_default().splitn(3, ' ');
    let version = status_line.next().unwrap_or_default();
    let status = status_line.next().unwrap_or_default().parse::<u16>();
    let (true, Ok(status)) = (version.starts_with("HTTP/1."), status) else {
        return Err(malformed("not a status line"));
    };
    let mut headers = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or_else(|| malformed("not a header line"))?;
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    Ok(Response { status, headers, body: Vec::new() })
}

/// The error for a response that breaks the protocol.
pub(super) fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_written_with_host_and_length() {
        let request = Request::new("POST", "/x").header("A", "b").body("hi");
        let expected = "POST /x HTTP/1.1\r\nHost: h:1\r\nA: b\r\nContent-Length: 2\r\n\r\nhi";
        assert_eq!(String::from_utf8(request.encode("h:1")).unwrap(), expected);
    }
}
