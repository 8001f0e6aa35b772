//! The loop: accept, turn, count.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use slab::Slab;
use socket2::{Domain, Protocol, Socket, Type};

use super::connection::{Connection, Shared, Turn};
use super::counts::{RawServerCounts, RawServerWatch};

/// Connections at a time, unless said otherwise. One more is closed at once.
const CONNECTIONS_MAX: usize = 65_536;
/// Connections that may wait to be accepted; the kernel lowers it to net.core.somaxconn.
const BACKLOG: i32 = 16_384;
/// Events that one wait returns.
const EVENTS: usize = 1_024;
/// The longest wait, and so the longest time until a stop is noticed.
const WAIT: Duration = Duration::from_millis(100);
/// Turns of the loop between two looks at the clock. A busy loop turns thousands of times a
/// second, and an idle one looks after every wait.
const TURNS_PER_LOOK: u64 = 64;
/// Connections have the tokens below, by their place.
const LISTENER: Token = Token(usize::MAX);

/// An HTTP/1.1 server on one thread that gives one fixed reply to any request.
///
/// Bodies with a `Content-Length` are read and forgotten; one in chunks is not read, and its
/// request the last of the connection. `HEAD` has no reply of its own, so it must not be sent.
#[derive(Debug)]
pub struct RawServer {
    listener: TcpListener,
    address: SocketAddr,
    poll: Poll,
    connections: Slab<Connection>,
    connections_max: usize,
    /// Places of connections that want another turn without an event. May name one that ended.
    again: Vec<usize>,
    /// Accepting failed for a reason that passes, and no event tells when.
    accept_again: bool,
    shared: Shared,
    counts: RawServerCounts,
    watch: RawServerWatch,
}

impl RawServer {
    /// Listens on `address`; port 0 takes a free one. Connections wait until [`run`](Self::run).
    ///
    /// # Errors
    /// What the system says, such as that the address is in use.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let mut listener = listen(address)?;
        let address = listener.local_addr()?;
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            listener,
            address,
            poll,
            connections: Slab::new(),
            connections_max: CONNECTIONS_MAX,
            again: Vec::new(),
            accept_again: false,
            shared: Shared::new(),
            counts: RawServerCounts::default(),
            watch: RawServerWatch::default(),
        })
    }

    /// Closes connections beyond `connections_max` at once. 65,536 unless set.
    #[must_use]
    pub fn with_connections_max(mut self, connections_max: usize) -> Self {
        self.connections_max = connections_max;
        self
    }

    /// Where it listens, with the port that was taken.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Reads the counts while the server runs.
    #[must_use]
    pub fn watch(&self) -> RawServerWatch {
        self.watch.clone()
    }

    /// Serves until `stop` is set or `time_max` has passed, which is noticed within 100 ms, and
    /// returns what it did. Connections are then cut.
    ///
    /// # Errors
    /// If the system refuses to wait for events.
    pub fn run(mut self, stop: &AtomicBool, time_max: Duration) -> io::Result<RawServerCounts> {
        let start = Instant::now();
        let mut events = Events::with_capacity(EVENTS);
        let mut turns: u64 = 0;
        while !stop.load(Ordering::Relaxed) {
            if events.is_empty() || turns.is_multiple_of(TURNS_PER_LOOK) {
                if start.elapsed() >= time_max {
                    break;
                }
                if self.accept_again {
                    self.accept();
                }
            }
            turns += 1;
            self.wait(&mut events)?;
            for event in &events {
                self.take(event);
            }
            self.watch.publish(self.counts);
        }
        Ok(self.counts)
    }

    /// Waits for events. Those that want another turn get it here, and then there is no wait.
    fn wait(&mut self, events: &mut Events) -> io::Result<()> {
        let time_out = if self.again.is_empty() { WAIT } else { Duration::ZERO };
        for place in std::mem::take(&mut self.again) {
            self.turn(place);
        }
        match self.poll.poll(events, Some(time_out)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                events.clear();
                Ok(())
            }
            result => result,
        }
    }

    fn take(&mut self, event: &Event) {
        let token = event.token();
        if token == LISTENER {
            return self.accept();
        }
        let Some(connection) = self.connections.get_mut(token.0) else {
            return;
        };
        if event.is_readable() || event.is_error() {
            connection.note_readable(event.is_read_closed() || event.is_error());
        }
        self.turn(token.0);
    }

    fn turn(&mut self, place: usize) {
        let Some(connection) = self.connections.get_mut(place) else {
            return;
        };
        match connection.turn(&mut self.shared, &mut self.counts.requests) {
            Turn::Wait => {}
            Turn::Again => self.again.push(place),
            // Closing takes it out of the poller, too.
            Turn::End => drop(self.connections.try_remove(place)),
        }
    }

    /// Accepts all that wait, as there is no further event for them.
    fn accept(&mut self) {
        self.accept_again = false;
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => self.add(stream),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return,
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {}
                    // Most likely there are too many open files; one may be closed soon.
                    _ => {
                        self.accept_again = true;
                        return;
                    }
                },
            }
        }
    }

    fn add(&mut self, stream: TcpStream) {
        self.counts.connections += 1;
        if self.connections.len() >= self.connections_max {
            return;
        }
        // Linux hands the listener's setting on; elsewhere each connection needs its own, and
        // without it is slower but right.
        if !cfg!(target_os = "linux") {
            stream.set_nodelay(true).ok();
        }
        let entry = self.connections.vacant_entry();
        let token = Token(entry.key());
        let connection = entry.insert(Connection::new(stream));
        // What came already makes an event as well, so nothing is read here.
        let interest = Interest::READABLE | Interest::WRITABLE;
        if self.poll.registry().register(connection.stream(), token, interest).is_err() {
            self.connections.remove(token.0);
        }
    }
}

/// A listener with a long backlog, which takes its port again right after a restart.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(TcpListener::from_std(socket.into()))
}
