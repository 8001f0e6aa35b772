//! A socket without manners: bytes go out as they are, and come in until the end.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use squall_server::ServerConfig;
use squall_testkit::faulty::FaultyStore;

use crate::support::TestServer;

/// Longest wait for one read or write.
const PATIENCE: Duration = Duration::from_secs(20);

/// Bytes that a test may be sent before it is sure to be wrong.
const RECEIVED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// One connection.
pub(crate) struct Raw(TcpStream);

impl Raw {
    pub(crate) fn open(server: &TestServer) -> Self {
        Self::of(TcpStream::connect(server.address).unwrap())
    }

    /// A connection whose kernel takes little that the program has not read.
    pub(crate) fn open_small(server: &TestServer) -> Self {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
        let socket = socket.unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        socket.connect(&server.address.into()).unwrap();
        Self::of(socket.into())
    }

    fn of(socket: TcpStream) -> Self {
        socket.set_nodelay(true).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.set_write_timeout(Some(PATIENCE)).unwrap();
        Self(socket)
    }

    /// Sends bytes that the server takes.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
    }

    /// Sends bytes unless the server has closed the connection.
    pub(crate) fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        match self.0.write_all(bytes.as_ref()) {
            Ok(()) => true,
            Err(error) if timed_out(&error) => panic!("the server takes nothing"),
            Err(_closed) => false,
        }
    }

    /// Sends `bytes` over and over until the server has taken nothing for a while, or
    /// `bytes_max`; returns how many it took.
    pub(crate) fn send_until_full(&mut self, bytes: &[u8], bytes_max: usize) -> usize {
        self.0.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
        let mut taken = 0;
        let mut rest = bytes;
        while taken < bytes_max {
            match self.0.write(rest) {
                Ok(count) => {
                    taken += count;
                    rest = if count == rest.len() { bytes } else { &rest[count..] };
                }
                Err(_full_or_closed) => break,
            }
        }
        self.0.set_write_timeout(Some(PATIENCE)).unwrap();
        taken
    }

    /// Says that nothing more comes.
    pub(crate) fn end_sending(&self) {
        self.0.shutdown(Shutdown::Write).unwrap();
    }

    /// As [`Raw::end_sending`], where the server may have closed the connection.
    pub(crate) fn end_sending_if_open(&self) {
        self.0.shutdown(Shutdown::Write).ok();
    }

    /// Breaks the connection off: the server gets an error, not an end.
    pub(crate) fn reset(self) {
        socket2::SockRef::from(&self.0).set_linger(Some(Duration::ZERO)).unwrap();
    }

    /// Reads until `mark` has come, and returns all that came.
    pub(crate) fn receive_until(&mut self, mark: &str) -> String {
        let mut received = Vec::new();
        let mut buffer = [0; 4096];
        while !String::from_utf8_lossy(&received).contains(mark) {
            let count = self.0.read(&mut buffer).unwrap();
            assert!(count > 0, "the end instead of {mark:?}: {}", text(&received));
            received.extend_from_slice(&buffer[..count]);
        }
        text(&received)
    }

    /// As [`Raw::receive_all`], of a client that has nothing to say.
    pub(crate) fn receive_all_after_end(&mut self) -> String {
        self.end_sending_if_open();
        self.receive_all()
    }

    /// Reads until the server closes or breaks off the connection.
    pub(crate) fn receive_all(&mut self) -> String {
        let mut received = Vec::new();
        let mut buffer = [0; 64 * 1024];
        loop {
            match self.0.read(&mut buffer) {
                Ok(0) => return text(&received),
                Ok(count) => received.extend_from_slice(&buffer[..count]),
                Err(error) if timed_out(&error) => {
                    panic!("the server does not close; it sent {:?}", text(&received))
                }
                Err(_reset) => return text(&received),
            }
            assert!(received.len() < RECEIVED_BYTES_MAX, "there is no end to it");
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn timed_out(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

/// Sends `bytes` on a connection of their own and returns all that comes back.
pub(crate) fn exchange(server: &TestServer, bytes: impl AsRef<[u8]>) -> String {
    let mut raw = Raw::open(server);
    raw.try_send(bytes);
    raw.receive_all()
}

/// The status codes in the bytes of several answers.
pub(crate) fn statuses(answers: &str) -> Vec<u16> {
    let behind = answers.split("HTTP/1.").skip(1);
    behind.filter_map(|answer| answer.get(2..5)?.parse().ok()).collect()
}

/// A server on a store that can be made to fail.
pub(crate) fn faulty(change: impl FnOnce(&mut ServerConfig)) -> (TestServer, Arc<FaultyStore>) {
    let mut store = None;
    let server = TestServer::over(change, |inner| {
        let faulty = Arc::new(FaultyStore::new(inner, 1));
        store = Some(Arc::clone(&faulty));
        faulty
    });
    (server, store.unwrap())
}
