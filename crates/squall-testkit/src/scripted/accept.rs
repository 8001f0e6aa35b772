//! Accepts connections and gives each a thread.

use std::io;
use std::net::TcpListener;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::event::PollFlags;
use rustix::thread::set_current_timer_slack;
use rustls::ServerConfig;

use super::clock::monotonic_ns;
use super::conversation::{Content, Conversation};
use super::play::play;
use super::record::{Ending, Record, SharedRecord};
use super::serve::serve;
use super::server::{Behaviour, CONNECTIONS_MAX};
use super::service::Timetable;
use super::stop::Stop;
use super::transport::{Socket, Transport};

/// Rest before another look when no connection can be taken.
const REST_NS: u64 = 5_000_000;

/// Where connections come from.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// What all threads of a server know.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) behaviour: Behaviour,
    pub(super) tls: Option<Arc<ServerConfig>>,
    pub(super) stop: Arc<Stop>,
    /// In ns of the clock.
    pub(super) started_at: u64,
    /// In the order of accept.
    records: Mutex<Vec<SharedRecord>>,
}

impl Listener {
    pub(super) fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Self::Tcp(listener) => listener.set_nonblocking(true),
            Self::Unix(listener) => listener.set_nonblocking(true),
        }
    }

    fn accept(&self) -> io::Result<Socket> {
        match self {
            Self::Tcp(listener) => listener.accept().map(|(stream, _)| Socket::Tcp(stream)),
            Self::Unix(listener) => listener.accept().map(|(stream, _)| Socket::Unix(stream)),
        }
    }

    fn socket(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(listener) => listener.as_fd(),
            Self::Unix(listener) => listener.as_fd(),
        }
    }
}

impl Shared {
    pub(super) fn new(behaviour: Behaviour, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        let stop = Arc::new(Stop::new()?);
        Ok(Self { behaviour, tls, stop, started_at: monotonic_ns(), records: Mutex::default() })
    }

    pub(super) fn record(&self) -> Record {
        let connections = self.records().iter().map(|record| record.lock().clone()).collect();
        Record { connections }
    }

    fn records(&self) -> MutexGuard<'_, Vec<SharedRecord>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the account of a connection; returns its number too, from 0.
    fn open(&self) -> (usize, SharedRecord) {
        let record = SharedRecord::accepted(monotonic_ns());
        let mut records = self.records();
        records.push(record.clone());
        (records.len() - 1, record)
    }
}

/// Accepts until the server stops, then waits for the threads, whose waits all end with it.
pub(super) fn accept_all(listener: &Listener, shared: &Arc<Shared>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    while shared.stop.check().is_ok() {
        threads.retain(|thread| !thread.is_finished());
        let is_full = threads.len() >= CONNECTIONS_MAX;
        let accepted = if is_full { Err(io::ErrorKind::Other.into()) } else { listener.accept() };
        let waited = match accepted {
            Ok(socket) => {
                threads.extend(converse_in_thread(socket, shared));
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                shared.stop.wait(Some((listener.socket(), PollFlags::IN)), None)
            }
            // Also when the process has no file descriptor left: a client may close one.
            Err(_) => shared.stop.wait(None, Some(monotonic_ns() + REST_NS)),
        };
        if waited.is_err() {
            break;
        }
    }
    for thread in threads {
        // A panic has been printed, and shows as a connection without an ending.
        drop(thread.join());
    }
}

fn converse_in_thread(socket: Socket, shared: &Arc<Shared>) -> Option<JoinHandle<()>> {
    let (index, record) = shared.open();
    let (its_shared, its_record) = (Arc::clone(shared), record.clone());
    let spawned = thread::Builder::new()
        .name(format!("scripted-{index}"))
        .spawn(move || converse(socket, index, &its_shared, its_record));
    match spawned {
        Ok(thread) => Some(thread),
        Err(error) => {
            record.lock().ended(Ending::Failed(error.to_string()), monotonic_ns());
            None
        }
    }
}

fn converse(socket: Socket, index: usize, shared: &Shared, record: SharedRecord) {
    // The kernel may bundle wakes within this time, 50 µs by default. If it refuses, waits are
    // less exact.
    set_current_timer_slack(NonZeroU64::new(1)).ok();
    let transport = match Transport::new(socket, shared.tls.as_ref()) {
        Ok(transport) => transport,
        Err(error) => return record.lock().ended(error.into(), monotonic_ns()),
    };
    let content = match &shared.behaviour {
        Behaviour::Script(script) if script.keeps_requests() => Content::Recorded,
        Behaviour::Script(_) => Content::Taken,
        Behaviour::Service(service) if service.keep_requests => Content::Recorded,
        Behaviour::Service(_) => Content::Dropped,
    };
    let stop = Arc::clone(&shared.stop);
    let mut conversation = Conversation::new(transport, stop, record, content);
    let ending = match &shared.behaviour {
        Behaviour::Script(script) => play(&mut conversation, &script.program(index)),
        Behaviour::Service(service) => {
            let timetable = Timetable::new(service, index, shared.started_at);
            serve(&mut conversation, &service.reply, timetable)
        }
    };
    conversation.end(ending);
}
