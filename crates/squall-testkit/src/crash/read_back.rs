//! Reads a stream from its start to its tail, page by page.

use std::io;
use std::net::SocketAddr;

use crate::http::{Connection, Request};

/// Pages of one stream; more means that the server never says it is up to date.
const PAGES_MAX: usize = 100_000;

/// Every byte of the stream at `target`.
///
/// # Errors
/// The server did not answer, refused, or never came to the tail.
pub fn read_back(address: SocketAddr, target: &str) -> io::Result<Vec<u8>> {
    let mut connection = Connection::open(address)?;
    let mut stored = Vec::new();
    let mut offset = "-1".to_owned();
    for _ in 0..PAGES_MAX {
        let request = Request::new("GET", &format!("{target}?offset={offset}"));
        let page = connection.call(&request)?;
        if page.status != 200 {
            return Err(wrong(target, &format!("answered {}: {}", page.status, page.text())));
        }
        stored.extend_from_slice(&page.body);
        if page.header("stream-up-to-date") == Some("true") {
            return Ok(stored);
        }
        let next = page.header("stream-next-offset").unwrap_or_default();
        // `-1` sorts before every offset that a server gives out.
        if next <= offset.as_str() {
            return Err(wrong(target, &format!("offset {next:?} follows {offset:?}")));
        }
        offset = next.to_owned();
    }
    Err(wrong(target, "never up to date"))
}

fn wrong(target: &str, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{target}: {what}"))
}
