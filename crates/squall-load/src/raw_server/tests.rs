//! The server over real connections.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use squall_testkit::wait::wait_until;

use super::reply::{REPLY, REPLY_KEEP_ALIVE};
use super::{RawServer, RawServerCounts, RawServerWatch};

/// Long enough for any machine; nothing waits for it to pass.
const LIMIT: Duration = Duration::from_secs(60);
const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/// A server in a thread of its own, which ends with this.
struct Running {
    address: SocketAddr,
    watch: RawServerWatch,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<RawServerCounts>>,
}

impl Running {
    fn start() -> Self {
        Self::start_with(|server| server)
    }

    fn start_with(configure: impl FnOnce(RawServer) -> RawServer) -> Self {
        let server = configure(RawServer::bind(([127, 0, 0, 1], 0).into()).unwrap());
        let (address, watch) = (server.address(), server.watch());
        let stop = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let stop = Arc::clone(&stop);
            move || server.run(&stop, LIMIT).unwrap()
        });
        Self { address, watch, stop, thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.set_write_timeout(Some(LIMIT)).unwrap();
        stream
    }

    fn end(mut self) -> RawServerCounts {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn expect(stream: &mut TcpStream, expected: &[u8]) {
    let mut received = vec![0; expected.len()];
    stream.read_exact(&mut received).unwrap();
    assert_eq!(received.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

/// The server closed, and had sent nothing more.
fn expect_end(stream: &mut TcpStream) {
    match stream.read(&mut [0; 1]) {
        Ok(length) => assert_eq!(length, 0),
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
}

#[test]
fn requests_are_answered_in_turn_and_counted() {
    let server = Running::start();
    let mut stream = server.connect();
    for _ in 0..100 {
        stream.write_all(GET).unwrap();
        expect(&mut stream, REPLY);
    }
    assert!(wait_until(LIMIT, || server.watch.counts().requests == 100));
    assert_eq!(server.end(), RawServerCounts { connections: 1, requests: 100 });
}

#[test]
fn pipelined_requests_get_as_many_replies() {
    let server = Running::start();
    let mut stream = server.connect();
    for count in [1, 16, 3_000] {
        stream.write_all(&GET.repeat(count)).unwrap();
        expect(&mut stream, &REPLY.repeat(count));
    }
    assert_eq!(server.end(), RawServerCounts { connections: 1, requests: 3_017 });
}

#[test]
fn a_client_that_reads_late_gets_every_reply() {
    let server = Running::start();
    let mut stream = server.connect();
    // Far more than the buffers of both sockets hold, so that the server has to wait.
    let count = 400_000;
    let mut sender = stream.try_clone().unwrap();
    let sending = thread::spawn(move || {
        for _ in 0..count / 100 {
            sender.write_all(&GET.repeat(100)).unwrap();
        }
    });
    assert!(wait_until(LIMIT, || server.watch.counts().requests > 10_000));
    let mut portion = vec![0; REPLY.len() * 1_000];
    for _ in 0..count / 1_000 {
        stream.read_exact(&mut portion).unwrap();
        assert!(portion.chunks(REPLY.len()).all(|reply| reply == REPLY));
    }
    sending.join().unwrap();
    assert_eq!(server.end(), RawServerCounts { connections: 1, requests: count });
}

#[test]
fn a_request_in_pieces_is_answered_once() {
    let server = Running::start();
    let mut stream = server.connect();
    stream.set_nodelay(true).unwrap();
    let post = b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n0123456789";
    for piece in post.chunks(3) {
        stream.write_all(piece).unwrap();
    }
    expect(&mut stream, REPLY);
    assert_eq!(server.end().requests, 1);
}

#[test]
fn a_connection_ends_when_the_client_asks() {
    let server = Running::start();
    let check = |request: &str, reply: &[u8]| {
        let mut stream = server.connect();
        stream.write_all(request.as_bytes()).unwrap();
        expect(&mut stream, reply);
        expect_end(&mut stream);
    };
    check("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", REPLY);
    check("GET / HTTP/1.0\r\n\r\n", REPLY);
    check("nonsense\r\n\r\n", b"");
}

/// `ab -k` speaks HTTP/1.0 and looks for the header in the reply.
#[test]
fn an_old_client_is_told_that_its_connection_stays() {
    let server = Running::start();
    let mut stream = server.connect();
    for _ in 0..3 {
        stream.write_all(b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").unwrap();
        expect(&mut stream, REPLY_KEEP_ALIVE);
    }
    assert_eq!(server.end(), RawServerCounts { connections: 1, requests: 3 });
}

#[test]
fn a_client_that_sends_no_more_still_gets_its_replies() {
    let server = Running::start();
    let mut stream = server.connect();
    stream.write_all(&GET.repeat(50)).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    expect(&mut stream, &REPLY.repeat(50));
    expect_end(&mut stream);
}

#[test]
fn a_connection_too_many_is_closed_and_a_place_is_used_again() {
    let server = Running::start_with(|server| server.with_connections_max(2));
    let mut first = server.connect();
    let mut second = server.connect();
    for stream in [&mut first, &mut second] {
        stream.write_all(GET).unwrap();
        expect(stream, REPLY);
    }
    expect_end(&mut server.connect());
    drop(first);
    // The server learns of the end some time after the client does.
    let answered = wait_until(LIMIT, || {
        let mut stream = server.connect();
        let mut reply = vec![0; REPLY.len()];
        stream.write_all(GET).is_ok() && stream.read_exact(&mut reply).is_ok()
    });
    assert!(answered);
}

#[test]
fn idle_connections_are_no_burden() {
    let server = Running::start();
    let idle: Vec<TcpStream> = (0..400).map(|_| server.connect()).collect();
    let mut stream = server.connect();
    stream.write_all(GET).unwrap();
    expect(&mut stream, REPLY);
    assert_eq!(server.end(), RawServerCounts { connections: 401, requests: 1 });
    drop(idle);
}

#[test]
fn the_longest_time_ends_the_server() {
    let server = RawServer::bind(([127, 0, 0, 1], 0).into()).unwrap();
    let counts = server.run(&AtomicBool::new(false), Duration::ZERO).unwrap();
    assert_eq!(counts, RawServerCounts::default());
}
