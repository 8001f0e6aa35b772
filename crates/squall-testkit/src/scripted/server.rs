//! The server: starting, asking, stopping.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustls::ServerConfig;

use super::accept::{Listener, Shared, accept_all};
use super::certificate::certify;
use super::record::Record;
use super::script::Script;
use super::service::Service;
use super::unreachable::DeafServer;

/// Connections that are served at a time. More wait in the backlog.
pub const CONNECTIONS_MAX: usize = 1024;

/// What a server does to its clients.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// Plays a script on each connection.
    Script(Script),
    /// Replies to every request after a while.
    Service(Service),
}

/// A running server on this machine. Dropping it stops it.
///
/// A server that cannot be started is a broken test, so starting panics instead of failing.
///
/// ```
/// use squall_testkit::http::{Request, call};
/// use squall_testkit::scripted::{After, Script, ScriptedServer, Step, reply};
///
/// let steps = [Step::Request, Step::Send(reply(200, "ok"))];
/// let server = ScriptedServer::start(Script::new().each_connection(steps).then(After::Repeat));
/// assert_eq!(call(server.address(), &Request::new("GET", "/"))?.text(), "ok");
/// assert_eq!(server.record().replies(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ScriptedServer {
    place: Place,
    authority_pem: Option<String>,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Place {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl ScriptedServer {
    /// Starts on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// If the operating system refuses.
    #[must_use]
    pub fn start(behaviour: impl Into<Behaviour>) -> Self {
        Self::start_at(any_port(), behaviour)
    }

    /// Starts with service times: [`ScriptedServer::start`] with a [`Service`].
    ///
    /// # Panics
    /// If the operating system refuses.
    #[must_use]
    pub fn serve(service: Service) -> Self {
        Self::start(service)
    }

    /// Starts on `address`, such as the one of a server that was stopped.
    ///
    /// # Panics
    /// If the operating system refuses.
    #[must_use]
    pub fn start_at(address: SocketAddr, behaviour: impl Into<Behaviour>) -> Self {
        Self::on_tcp(address, behaviour.into(), None).unwrap_or_else(|error| refuse(&error))
    }

    /// Starts behind TLS, with a certificate for `localhost` and `127.0.0.1`; see
    /// [`ScriptedServer::authority_pem`]. It speaks HTTP/1.1, and says so by ALPN. A connection
    /// shakes hands when its script first reads or sends: one that stalls leaves it unfinished.
    ///
    /// # Panics
    /// If the operating system refuses, or no certificate can be made.
    #[must_use]
    pub fn start_tls(behaviour: impl Into<Behaviour>) -> Self {
        let certified = certify().unwrap_or_else(|error| refuse(&error));
        let mut server = Self::on_tcp(any_port(), behaviour.into(), Some(certified.config))
            .unwrap_or_else(|error| refuse(&error));
        server.authority_pem = Some(certified.authority_pem);
        server
    }

    /// Starts on a Unix socket at `path`, which goes with the server.
    ///
    /// # Panics
    /// If the operating system refuses, as when `path` exists.
    #[must_use]
    pub fn start_unix(path: impl AsRef<Path>, behaviour: impl Into<Behaviour>) -> Self {
        let path = path.as_ref().to_path_buf();
        UnixListener::bind(&path)
            .map(Listener::Unix)
            .and_then(|listener| Self::on(listener, Place::Unix(path), behaviour.into(), None))
            .unwrap_or_else(|error| refuse(&error))
    }

    /// Starts what listens but lets nobody in.
    ///
    /// # Panics
    /// If the operating system refuses.
    #[must_use]
    pub fn deaf() -> DeafServer {
        DeafServer::start().unwrap_or_else(|error| refuse(&error))
    }

    fn on_tcp(
        address: SocketAddr,
        behaviour: Behaviour,
        tls: Option<Arc<ServerConfig>>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let place = Place::Tcp(listener.local_addr()?);
        Self::on(Listener::Tcp(listener), place, behaviour, tls)
    }

    fn on(
        listener: Listener,
        place: Place,
        behaviour: Behaviour,
        tls: Option<Arc<ServerConfig>>,
    ) -> io::Result<Self> {
        listener.set_nonblocking()?;
        let shared = Arc::new(Shared::new(behaviour, tls)?);
        let its_shared = Arc::clone(&shared);
        let acceptor = thread::Builder::new()
            .name("scripted-accept".into())
            .spawn(move || accept_all(&listener, &its_shared))?;
        Ok(Self { place, authority_pem: None, shared, acceptor: Some(acceptor) })
    }

    /// Where it listens.
    ///
    /// # Panics
    /// If that is a Unix socket.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        match &self.place {
            Place::Tcp(address) => *address,
            Place::Unix(path) => panic!("{} is a Unix socket", path.display()),
        }
    }

    /// The URL of `target`, which begins with a slash; `https` behind TLS.
    ///
    /// # Panics
    /// If the server is on a Unix socket.
    #[must_use]
    pub fn url(&self, target: &str) -> String {
        let scheme = if self.shared.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{target}", self.address())
    }

    /// The certificate of the authority to trust, behind TLS.
    #[must_use]
    pub fn authority_pem(&self) -> Option<&str> {
        self.authority_pem.as_deref()
    }

    /// When it started, in ns of [`monotonic_ns`](super::monotonic_ns): pauses count from here.
    #[must_use]
    pub fn started_at(&self) -> u64 {
        self.shared.started_at
    }

    /// What it did so far.
    #[must_use]
    pub fn record(&self) -> Record {
        self.shared.record()
    }

    /// Ends every connection and returns the whole record.
    pub fn stop(mut self) -> Record {
        self.end();
        self.record()
    }

    fn end(&mut self) {
        let Some(acceptor) = self.acceptor.take() else { return };
        // Without the ring the threads would never end, so they are left alone then.
        if self.shared.stop.ring().is_ok() {
            drop(acceptor.join());
        }
        if let Place::Unix(path) = &self.place {
            // Someone else may have removed it.
            drop(fs::remove_file(path));
        }
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.end();
    }
}

impl From<Script> for Behaviour {
    fn from(script: Script) -> Self {
        Self::Script(script)
    }
}

impl From<Service> for Behaviour {
    fn from(service: Service) -> Self {
        Self::Service(service)
    }
}

fn any_port() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

fn refuse<T>(error: &impl std::fmt::Display) -> T {
    panic!("cannot start the scripted server: {error}")
}
