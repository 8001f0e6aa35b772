//! Clients of the scripted server, and what they wait for.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::Duration;

use squall_testkit::http::{Connection, Request};
use squall_testkit::scripted::{Ending, ScriptedServer};
use squall_testkit::wait::wait_until;

/// Longest wait for what should come at once.
pub(super) const SOON: Duration = Duration::from_secs(20);

pub(super) fn get() -> Request {
    Request::new("GET", "/")
}

pub(super) fn connect(server: &ScriptedServer) -> TcpStream {
    let socket = TcpStream::connect(server.address()).unwrap();
    socket.set_nodelay(true).unwrap();
    socket.set_read_timeout(Some(SOON)).unwrap();
    socket.set_write_timeout(Some(SOON)).unwrap();
    socket
}

pub(super) fn open(server: &ScriptedServer) -> Connection {
    Connection::open(server.address()).unwrap()
}

/// What comes until the FIN, or the error instead of it.
pub(super) fn read_to_end(mut socket: &TcpStream) -> Result<String, ErrorKind> {
    let mut text = String::new();
    socket.read_to_string(&mut text).map_err(|error| error.kind())?;
    Ok(text)
}

/// Waits for the end of connection `index`, which a client causes and cannot see.
pub(super) fn wait_for_end(server: &ScriptedServer, index: usize) -> Ending {
    let ending = || server.record().connections.get(index).and_then(|it| it.ending.clone());
    assert!(wait_until(SOON, || ending().is_some()), "{:?}", server.record());
    ending().unwrap()
}
