//! A thousand followers of one stream, a tenth of which stop reading.
//!
//! Client and server are separate processes with the files that a plain user has; where
//! the hard limit is too low there are fewer followers, and a line says so.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use squall_testkit::http::{Request, call};
use squall_testkit::process::ServerProcess;
use squall_testkit::wait::wait_until;
use tempfile::tempdir;

use crate::command::{END_MAX, start};
use crate::memory::resident_bytes;

const FOLLOWERS: usize = 1_000;
/// Files that this process and the server need beside followers.
const OTHER_FILES: u64 = 200;

const RING_BYTES: u64 = 1 << 20;
const STALLED_BYTES_MAX: u64 = 64 * 1024;
/// What an append costs whoever follows: queues, pages of the database, the allocator.
const OTHER_BYTES_MAX: u64 = 8 << 20;

const EVENT_BYTES: usize = 32 * 1024;
const EVENTS: usize = 96;

/// The first may come at any time, however rare they are.
const HEARTBEAT: &[u8] = b":\n\n";

/// Longest wait for all followers to get an event, or for the stalled to be cut.
const PATIENCE: Duration = Duration::from_secs(60);

/// One follow over HTTP/1.0, whose answer is not chunked: all get the very same bytes.
struct Follower {
    socket: TcpStream,
    /// How many of the expected bytes have come.
    received: usize,
    /// How many bytes of a heartbeat.
    beaten: usize,
}

#[test]
fn followers_that_stop_reading_cost_the_others_nothing() {
    let count = followers_within_limits();
    let stalled = count / 10;
    let directory = tempdir().unwrap();
    let most = (count + 20).to_string();
    let connections = (count + 40).to_string();
    let options = ["--write-timeout", "2s", "--heartbeat", "1h", "--followers-max", &most];
    let limits = ["--connections-max", &connections, "--ring-bytes", "1MiB"];
    let mut server = start(directory.path(), &[options.as_slice(), &limits].concat());
    let mut expected = Vec::new();
    // What grows with the first events has grown before anyone follows.
    for index in 0..EVENTS {
        append(&server, "warm-up", index, &mut Vec::new());
    }
    append(&server, "s", 0, &mut expected);
    let mut stopped: Vec<_> = (0..stalled).map(|_| follow(server.address(), 4096)).collect();
    let mut reading: Vec<_> = (stalled..count).map(|_| follow(server.address(), 0)).collect();
    receive(&mut reading, &expected);

    let before = resident_bytes(&server);
    let mut most = before;
    for index in 1..EVENTS {
        append(&server, "s", index, &mut expected);
        receive(&mut reading, &expected);
        most = most.max(resident_bytes(&server));
    }
    let followers = format!("squall_followers {}\n", reading.len());
    assert!(wait_until(PATIENCE, || metrics(&server).contains(&followers)), "none was cut");
    append(&server, "s", EVENTS, &mut expected);
    receive(&mut reading, &expected);
    for follower in &mut stopped {
        follower.receive_rest(&expected);
        assert!(follower.received < expected.len(), "it has not missed anything");
    }
    let grown = most.saturating_sub(before);
    let bound = RING_BYTES + STALLED_BYTES_MAX * stalled as u64 + OTHER_BYTES_MAX;
    eprintln!("{count} followers, {stalled} stalled: {} KiB more", grown / 1024);
    assert!(grown < bound, "{grown} bytes more, at most {bound} expected");
    end(&mut server, reading);
}

/// All others are sent away, spread over ten seconds, and the process ends.
fn end(server: &mut ServerProcess, mut reading: Vec<Follower>) {
    server.terminate().unwrap();
    let mut waits: Vec<u64> = reading.iter_mut().map(Follower::receive_retry).collect();
    assert_eq!(server.wait(END_MAX).unwrap().code(), Some(0), "{}", server.stderr());
    waits.sort_unstable();
    let (first, last) = (waits[0], waits[waits.len() - 1]);
    assert!((1_000..=10_000).contains(&first) && (1_000..=10_000).contains(&last));
    assert!(last - first > 8_000, "from {first} to {last} ms");
    waits.dedup();
    assert!(waits.len() > reading.len() / 2, "a herd");
}

/// As many as the hard limit of open files allows, up to [`FOLLOWERS`].
fn followers_within_limits() -> usize {
    let hard = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: hard, maximum: hard }).unwrap();
    let room = hard.unwrap_or(u64::MAX).saturating_sub(OTHER_FILES);
    let count = usize::try_from(room).unwrap_or(usize::MAX).min(FOLLOWERS);
    if count < FOLLOWERS {
        eprintln!(
            "only {count} of {FOLLOWERS} followers: the hard limit of open files is {hard:?}"
        );
    }
    count
}

/// Appends an event and adds to `expected` what its followers get.
fn append(server: &ServerProcess, stream: &str, index: usize, expected: &mut Vec<u8>) {
    let target = format!("/v1/stream/{stream}");
    let payload = format!("{index:06}{}", "x".repeat(EVENT_BYTES - 6));
    let make = Request::new("PUT", &target).header("Content-Type", "text/plain");
    if index == 0 {
        assert_eq!(call(server.address(), &make).unwrap().status, 201);
    }
    let post = Request::new("POST", &target).header("Content-Type", "text/plain");
    let reply = call(server.address(), &post.body(payload.as_bytes())).unwrap();
    assert_eq!(reply.status, 204, "{}", reply.text());
    let tail = reply.header("Stream-Next-Offset").unwrap();
    expected.extend_from_slice(format!("id: {tail}\ndata:{payload}\n\n").as_bytes());
}

fn metrics(server: &ServerProcess) -> String {
    call(server.address(), &Request::new("GET", "/metrics")).unwrap().text()
}

/// Begins a follow; its kernel keeps about `receive_bytes` for it, unless that is zero.
fn follow(address: SocketAddr, receive_bytes: usize) -> Follower {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    if receive_bytes > 0 {
        socket.set_recv_buffer_size(receive_bytes).unwrap();
    }
    socket.connect(&address.into()).unwrap();
    let mut socket = TcpStream::from(socket);
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(b"GET /v1/stream/s?live=events HTTP/1.0\r\n\r\n").unwrap();
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        socket.read_exact(&mut byte).unwrap();
        head.extend_from_slice(&byte);
    }
    assert!(head.starts_with(b"HTTP/1.0 200"), "{}", String::from_utf8_lossy(&head));
    socket.set_nonblocking(true).unwrap();
    Follower { socket, received: 0, beaten: 0 }
}

/// Reads until all have received exactly `expected`.
fn receive(followers: &mut [Follower], expected: &[u8]) {
    let mut missing = followers.len();
    let done = wait_until(PATIENCE, || {
        missing =
            followers.iter_mut().filter_map(|one| (!one.receive(expected)).then_some(())).count();
        missing == 0
    });
    assert!(done, "{missing} followers miss something");
}

impl Follower {
    /// Reads what there is; returns whether all of `expected` has come.
    fn receive(&mut self, expected: &[u8]) -> bool {
        let mut buffer = [0; 64 * 1024];
        while self.received < expected.len() {
            match self.socket.read(&mut buffer) {
                Ok(0) => panic!("cut after {} bytes", self.received),
                Ok(count) => self.check(&buffer[..count], expected),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return false,
                Err(error) => panic!("{error} after {} bytes", self.received),
            }
        }
        true
    }

    /// Reads what is left of a follow that was cut.
    fn receive_rest(&mut self, expected: &[u8]) {
        self.socket.set_nonblocking(false).unwrap();
        let mut buffer = [0; 64 * 1024];
        while let Ok(count @ 1..) = self.socket.read(&mut buffer) {
            self.check(&buffer[..count], expected);
        }
    }

    fn check(&mut self, mut bytes: &[u8], expected: &[u8]) {
        while !bytes.is_empty() {
            let rest = &expected[self.received..];
            let same = match rest.starts_with(bytes) {
                true => bytes.len(),
                false => bytes.iter().zip(rest).take_while(|(one, other)| one == other).count(),
            };
            self.received += same;
            bytes = &bytes[same..];
            let beat = HEARTBEAT[self.beaten..].iter().zip(bytes);
            let beaten = beat.take_while(|(one, other)| one == other).count();
            let left = String::from_utf8_lossy(&bytes[..bytes.len().min(100)]);
            assert!(same + beaten > 0, "other bytes at {}: {left:?}", self.received);
            self.beaten = (self.beaten + beaten) % HEARTBEAT.len();
            bytes = &bytes[beaten..];
        }
    }

    /// Reads the farewell.
    fn receive_retry(&mut self) -> u64 {
        self.socket.set_nonblocking(false).unwrap();
        let mut text = String::new();
        self.socket.read_to_string(&mut text).unwrap();
        let wait = text.trim_start_matches(":\n\n").strip_prefix("retry:");
        wait.unwrap_or_else(|| panic!("{text:?}")).trim().parse().unwrap()
    }
}
