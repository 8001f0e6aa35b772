//! A server on a free port of this process, and short ways to talk to it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use squall_server::{Ended, Observer, ServerConfig, run};
use squall_stream::limits::StreamLimits;
use squall_stream::memory::MemoryStore;
use squall_stream::{StreamStore, UnixMillis};
use squall_testkit::http::{Connection, Request, Response};
use tokio::sync::oneshot;

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
        let mut config = ServerConfig::default();
        config.hosts.loopback_only = true;
        change(&mut config);
        let observer = Observer::new(&config);
        let clock = Arc::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            UnixMillis(u64::try_from(since.as_millis()).unwrap())
        });
        let store =
            Arc::new(MemoryStore::new(StreamLimits::default(), clock, Arc::clone(&observer) as _));
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
        connection.set_timeout(Duration::from_secs(10)).unwrap();
        connection
    }

    /// One request on a connection of its own.
    pub(crate) fn call(&self, request: &Request) -> Response {
        self.connect().call(request).unwrap()
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
