//! A server on a free port of this process, and short ways to talk to it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::FutureExt;
use squall_server::{Ended, Observer, ServerConfig, run};
use squall_stream::limits::StreamLimits;
use squall_stream::memory::MemoryStore;
use squall_stream::{Offset, StreamName, StreamStore, UnixMillis};
use squall_testkit::http::{Connection, Request, Response};
use squall_testkit::wait::wait_until;
use tokio::sync::oneshot;

/// Longest wait for anything; far beyond what a busy machine needs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A running server; stopped when dropped.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) store: Arc<MemoryStore>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<Ended>>,
}

impl TestServer {
    /// A server with defaults that suit a test: loopback hosts only.
    pub(crate) fn start() -> Self {
        Self::with(|_| {})
    }

    /// A server whose configuration `change` has changed.
    pub(crate) fn with(change: impl FnOnce(&mut ServerConfig)) -> Self {
        Self::over(change, |store| store)
    }

    /// A server on the store that `wrap` makes of an in-memory one.
    pub(crate) fn over(
        change: impl FnOnce(&mut ServerConfig),
        wrap: impl FnOnce(Arc<dyn StreamStore>) -> Arc<dyn StreamStore>,
    ) -> Self {
        Self::limited(StreamLimits::default(), change, wrap)
    }

    /// As [`TestServer::over`], with limits of the store's own.
    pub(crate) fn limited(
        limits: StreamLimits,
        change: impl FnOnce(&mut ServerConfig),
        wrap: impl FnOnce(Arc<dyn StreamStore>) -> Arc<dyn StreamStore>,
    ) -> Self {
        let mut config = ServerConfig::default();
        config.hosts.loopback_only = true;
        change(&mut config);
        let observer = Observer::new(&config);
        let clock = Arc::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            UnixMillis(u64::try_from(since.as_millis()).unwrap())
        });
        let store = Arc::new(MemoryStore::new(limits, clock, Arc::clone(&observer) as _));
        let served = wrap(Arc::clone(&store) as _);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let shutdown = async move { drop(stopped.await) };
                run(listener, served, observer, config, shutdown).await
            })
        });
        Self { address, store, stop: Some(stop), thread: Some(thread) }
    }

    /// A new connection that waits at most ten seconds for anything.
    pub(crate) fn connect(&self) -> Connection {
        let connection = Connection::open(self.address).unwrap();
        connection.set_timeout(PATIENCE).unwrap();
        connection
    }

    /// One request on a connection of its own.
    pub(crate) fn call(&self, request: &Request) -> Response {
        self.connect().call(request).unwrap()
    }

    /// `GET` on a connection of its own.
    pub(crate) fn read(&self, target: &str) -> Response {
        self.call(&Request::new("GET", target))
    }

    /// Makes a stream that must be new.
    pub(crate) fn create(&self, name: &str, content_type: &str) {
        let made = self.call(&put(name).header("Content-Type", content_type));
        assert_eq!(made.status, 201, "{}", made.text());
    }

    /// Appends what must be taken; returns the new tail.
    pub(crate) fn append(
        &self,
        name: &str,
        content_type: &str,
        body: impl Into<Vec<u8>>,
    ) -> String {
        let taken = self.call(&post(name).header("Content-Type", content_type).body(body));
        assert_eq!(taken.status, 204, "{}", taken.text());
        taken.header("Stream-Next-Offset").unwrap().to_owned()
    }

    /// Closes a stream.
    pub(crate) fn close(&self, name: &str) {
        let closed = self.call(&post(name).header("Stream-Closed", "true"));
        assert_eq!(closed.status, 204, "{}", closed.text());
    }

    /// Deletes a stream.
    pub(crate) fn delete(&self, name: &str) {
        let deleted = self.call(&Request::new("DELETE", &path(name)));
        assert_eq!(deleted.status, 204, "{}", deleted.text());
    }

    /// Gives up the events before a position, as a retention rule would.
    pub(crate) fn trim(&self, name: &str, before: u64) {
        let trimmed = self.store.trim(StreamName::parse(name).unwrap(), Offset::at(before));
        trimmed.now_or_never().unwrap().unwrap();
    }

    /// One value of `/metrics`, such as `squall_followers`.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.read("/metrics").text();
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }

    /// Waits until so many follows and long-polls are open.
    pub(crate) fn wait_for_followers(&self, count: u64) {
        assert!(wait_until(PATIENCE, || self.metric("squall_followers") == count), "{count}");
    }

    /// Asks the server to stop, without waiting for it.
    pub(crate) fn ask_to_stop(&mut self) {
        drop(self.stop.take());
    }

    /// Stops the server and says how it ended.
    pub(crate) fn stop(mut self) -> Ended {
        self.ask_to_stop();
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.ask_to_stop();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// The target of a stream.
pub(crate) fn path(name: &str) -> String {
    format!("/v1/stream/{name}")
}

/// A request that makes a stream.
pub(crate) fn put(name: &str) -> Request {
    Request::new("PUT", &path(name))
}

/// A request that appends to a stream.
pub(crate) fn post(name: &str) -> Request {
    Request::new("POST", &path(name))
}

/// The offset so many bytes from the start, as clients see it.
pub(crate) fn at(position: u64) -> String {
    Offset::at(position).to_string()
}

/// Checks the code of a problem.
pub(crate) fn assert_problem(found: &Response, status: u16, code: &str) {
    assert_eq!(found.status, status, "{}", found.text());
    assert_eq!(found.header("Content-Type"), Some("application/problem+json"));
    let body: serde_json::Value = serde_json::from_slice(&found.body).unwrap();
    assert_eq!(body["code"], code, "{body}");
    assert_eq!(body["status"], status, "{body}");
}
