//! Accepting: one task that takes connections in, up to the limit.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use rand::RngExt;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::door::answer::Answer;
use crate::door::connection::{HttpLimits, serve};
use crate::door::reply::Reply;
use crate::door::request::Request;
use crate::door::state::{ConnectionState, Deadlines, DoorClock};
use crate::door::sweep::Connections;
use crate::problem::RETRY_AFTER_S;

/// Connections that are told about the limit at a time; beyond that they are just closed.
const REFUSALS_MAX: usize = 64;

/// Longest time for telling one.
const REFUSAL_MAX: Duration = Duration::from_secs(1);

const REFUSAL: &str = "{\"type\":\"urn:squall:error:too_many_connections\",\
\"title\":\"Too many connections\",\"status\":503,\
\"detail\":\"The server has as many connections as it may.\",\
\"code\":\"too_many_connections\",\"hint\":\"Try again in a moment.\"}";

/// The answer to a connection that is one too many. The time to come again is drawn for
/// each, so that those who were refused together come back apart.
fn refusal() -> String {
    let (bytes, seconds) = (REFUSAL.len(), rand::rng().random_range(RETRY_AFTER_S));
    format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n\
         Content-Length: {bytes}\r\nConnection: close\r\nRetry-After: {seconds}\r\n\r\n{REFUSAL}"
    )
}

/// What memory holds of a reply.
pub(crate) enum Recalled {
    /// The same as before.
    Same,
    /// Another one.
    Other(Reply),
    /// None: ask the long way.
    Nothing,
}

/// What answers requests.
pub(crate) trait Handler: Send + Sync + 'static {
    /// Whether a `Host` is the address that the server listens on.
    fn is_own_host(&self, host: &[u8]) -> bool;

    /// The reply to a plain `GET /`, if it can be given from memory. `last` is the body of
    /// the reply that was given before.
    fn recall(&self, last: Option<&Bytes>) -> Recalled;

    /// The answer to any request.
    fn handle(&self, request: Request) -> Answer;
}

/// Limits of the door.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoorConfig {
    pub(crate) connections_max: usize,
    pub(crate) http: HttpLimits,
    pub(crate) head_max: Duration,
    pub(crate) idle_max: Duration,
    pub(crate) write_max: Duration,
}

/// All connections of a server, and what was counted of them.
pub(crate) struct Door {
    config: DoorConfig,
    clock: DoorClock,
    connections: Arc<Connections>,
    refusals: Arc<Semaphore>,
    accepted_total: AtomicU64,
    refused_total: AtomicU64,
    cut_total: AtomicU64,
}

impl Door {
    pub(crate) fn new(config: DoorConfig) -> Self {
        Self {
            config,
            clock: DoorClock::start(),
            connections: Arc::default(),
            refusals: Arc::new(Semaphore::new(REFUSALS_MAX)),
            accepted_total: AtomicU64::new(0),
            refused_total: AtomicU64::new(0),
            cut_total: AtomicU64::new(0),
        }
    }

    pub(crate) fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Connections accepted, refused at the limit, and cut, since the start.
    pub(crate) fn totals(&self) -> [u64; 3] {
        [&self.accepted_total, &self.refused_total, &self.cut_total]
            .map(|total| total.load(Ordering::Relaxed))
    }

    /// Takes connections in until `closing` says so, and sweeps those that are open.
    ///
    /// Cancel-safe: what was accepted goes on in tasks of its own.
    pub(crate) async fn accept(
        &self,
        listener: &TcpListener,
        handler: &Arc<dyn Handler>,
        mut closing: watch::Receiver<bool>,
    ) {
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => self.admit(stream, handler),
                    Err(error) => pause_after(&error).await,
                },
                _ = closing.changed() => return,
            }
        }
    }

    /// Cuts overdue connections once a second, until the runtime ends.
    pub(crate) async fn sweep(&self) {
        let milliseconds = |limit: Duration| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let deadlines = Deadlines {
            head_ms: milliseconds(self.config.head_max),
            idle_ms: milliseconds(self.config.idle_max),
            write_ms: milliseconds(self.config.write_max),
        };
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        loop {
            ticks.tick().await;
            let cut = self.connections.sweep(self.clock.now_ms(), &deadlines);
            self.cut_total.fetch_add(cut, Ordering::Relaxed);
        }
    }

    fn admit(&self, stream: TcpStream, handler: &Arc<dyn Handler>) {
        if self.connections.count() >= self.config.connections_max {
            self.refused_total.fetch_add(1, Ordering::Relaxed);
            self.refuse(stream);
            return;
        }
        self.accepted_total.fetch_add(1, Ordering::Relaxed);
        set_options(&stream, self.config.write_max);
        let state = Arc::new(ConnectionState::new());
        let registered = self.connections.register(Arc::clone(&state));
        let (handler, limits) = (Arc::clone(handler), self.config.http);
        tokio::spawn(async move {
            serve(stream, state, handler, limits).await;
            drop(registered);
        });
    }

    fn refuse(&self, stream: TcpStream) {
        let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else {
            return;
        };
        tokio::spawn(async move {
            // Whether the peer reads it or not, the connection is closed after this.
            let _told = tokio::time::timeout(REFUSAL_MAX, tell(stream)).await;
            drop(permit);
        });
    }
}

/// Answers the first request of a connection that is one too many.
async fn tell(mut stream: TcpStream) -> io::Result<()> {
    let mut head = [0_u8; 2048];
    let _first_bytes = stream.read(&mut head).await?;
    stream.write_all(refusal().as_bytes()).await?;
    stream.shutdown().await?;
    while stream.read(&mut head).await? > 0 {}
    Ok(())
}

/// How long a connection is silent before the kernel asks whether the peer is there.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Small answers leave at once; a peer that vanished is noticed by the kernel.
fn set_options(stream: &TcpStream, write_max: Duration) {
    let socket = SockRef::from(stream);
    let set = [
        socket.set_tcp_nodelay(true),
        socket.set_tcp_user_timeout(Some(write_max)),
        socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE)),
    ];
    for error in set.into_iter().filter_map(Result::err) {
        tracing::debug!(%error, "socket option");
    }
}

/// Out of files or memory: waiting lets other connections end. A peer that left before it
/// was accepted is no reason to wait.
async fn pause_after(error: &io::Error) {
    let peer = [io::ErrorKind::ConnectionAborted, io::ErrorKind::ConnectionReset];
    if !peer.contains(&error.kind()) {
        tracing::warn!(%error, "cannot accept");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_is_as_long_as_it_says() {
        let text = refusal();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{}", body.len());
        let problem: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(problem["code"], "too_many_connections");
    }
}
