//! The server: its parts put together, and the order in which they stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use squall_stream::observer::{Change, Health, StoreObserver, UnreadyReason};
use squall_stream::request::StoreError;
use squall_stream::{ContentType, StreamName, StreamStore};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::config::ServerConfig;
use crate::context::{Context, Counters};
use crate::door::{Door, DoorConfig, Handler, HttpLimits, InFlight};
use crate::follow::{Hub, HubConfig};
use crate::pages::PageBudget;
use crate::routes::Router;

/// What an engine reports to, made before the engine and given to the server after it.
pub struct Observer {
    hub: Arc<Hub>,
    health: watch::Sender<Health>,
}

impl Observer {
    /// The observer of a server that will run with `config`.
    #[must_use]
    pub fn new(config: &ServerConfig) -> Arc<Self> {
        let hub = Hub::new(HubConfig {
            ring_bytes_max: config.ring_bytes_max,
            ring_bytes_total_max: config.ring_bytes_total_max,
            followers_max: config.followers_max,
            heartbeat: config.heartbeat,
            age_max: config.sse_age_max,
        });
        Arc::new(Self { hub: Arc::new(hub), health: watch::Sender::new(Health::Ready) })
    }
}

impl StoreObserver for Observer {
    fn committed(&self, changes: &[Change]) {
        self.hub.committed(changes);
    }

    fn health_changed(&self, health: &Health) {
        match health {
            Health::Ready => tracing::info!("appends are taken again"),
            Health::Unready(UnreadyReason::ShuttingDown) => tracing::info!("the store is closing"),
            Health::Unready(reason) => tracing::warn!(%reason, "appends are refused"),
            Health::Failed { reason } => tracing::error!(%reason, "the store has stopped for good"),
        }
        self.health.send_replace(health.clone());
    }
}

/// How a server ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything was finished.
    Drained,
    /// The time for that was up; this many connections were cut.
    Cut {
        /// Connections that were still open.
        connections: usize,
    },
    /// A part of the server stopped by itself, which is a bug of it.
    Broken {
        /// Which part.
        part: &'static str,
    },
    /// The store failed: what it did last is in doubt.
    StoreFailed {
        /// What went wrong.
        reason: String,
    },
}

/// Longest time for replies that were decided before the store failed.
const FAILED_FLUSH_MAX: Duration = Duration::from_millis(500);

/// Serves `listener` until `shutdown` resolves or the store fails, then ends in order:
/// unready, no new connections, follows and long-polls ended, open requests finished, the
/// store shut down.
///
/// `observer` must be the one that `store` reports to.
pub async fn run(
    listener: TcpListener,
    store: Arc<dyn StreamStore>,
    observer: Arc<Observer>,
    config: ServerConfig,
    shutdown: impl Future<Output = ()>,
) -> Ended {
    let context = Arc::new(context(&listener, store, &observer, config));
    let handler: Arc<dyn Handler> = Arc::new(Router(Arc::clone(&context)));
    let (close, closing) = watch::channel(false);
    let mut hub = tokio::spawn(Arc::clone(&context.hub).run(Arc::clone(&context.store)));
    let mut sweep = tokio::spawn({
        let context = Arc::clone(&context);
        async move { context.door.sweep().await }
    });
    let mut accept = tokio::spawn({
        let context = Arc::clone(&context);
        async move { context.door.accept(&listener, &handler, closing).await }
    });
    let mut health = observer.health.subscribe();
    let failed = tokio::select! {
        () = shutdown => None,
        reason = failure(&mut health) => Some(Ended::StoreFailed { reason }),
        // These run until they are told to end: that one ended is a panic of its own.
        _ = &mut hub => Some(Ended::Broken { part: "fan-out" }),
        _ = &mut sweep => Some(Ended::Broken { part: "sweep" }),
        _ = &mut accept => Some(Ended::Broken { part: "accepting" }),
    };
    context.draining.store(true, Ordering::Release);
    close.send_replace(true);
    // The listener is closed when this task has ended.
    if !accept.is_finished() {
        drop(accept.await);
    }
    let ended = match failed {
        Some(ended) => flush_failed(&context, ended).await,
        None => drain(&context, &mut health).await,
    };
    hub.abort();
    sweep.abort();
    ended
}

fn context(
    listener: &TcpListener,
    store: Arc<dyn StreamStore>,
    observer: &Observer,
    config: ServerConfig,
) -> Context {
    let listen =
        listener.local_addr().map_or_else(|_| String::new(), |address| address.to_string());
    Context {
        pages: Arc::new(PageBudget::new(config.pages_bytes_max, config.page_wait_max)),
        bodies: Arc::new(InFlight::new(config.bodies_bytes_max)),
        door: Door::new(door_config(&config)),
        hub: Arc::clone(&observer.hub),
        store,
        counters: Counters::default(),
        default_stream: default_stream(),
        default_type: std::sync::RwLock::new(ContentType::text_plain()),
        draining: AtomicBool::new(false),
        listen,
        config,
    }
}

/// The name of the stream that `/` and `/stream` show.
fn default_stream() -> StreamName {
    #[expect(clippy::expect_used, reason = "a literal that the name's own tests cover")]
    StreamName::parse("default").expect("a valid name")
}

fn door_config(config: &ServerConfig) -> DoorConfig {
    DoorConfig {
        connections_max: config.connections_max,
        http: HttpLimits {
            head_bytes_max: config.head_bytes_max,
            headers_max: config.headers_max,
            http2_streams_max: config.http2_streams_max,
        },
        head_max: config.head_max,
        idle_max: config.idle_max,
        write_max: config.write_max,
    }
}

/// Resolves once the store has failed.
async fn failure(health: &mut watch::Receiver<Health>) -> String {
    let failed = health.wait_for(|health| matches!(health, Health::Failed { .. })).await;
    match failed.as_deref() {
        Ok(Health::Failed { reason }) => reason.clone(),
        _ => std::future::pending().await,
    }
}

/// Gives replies that say so a moment to leave, then cuts every connection.
async fn flush_failed(context: &Context, ended: Ended) -> Ended {
    context.hub.ask_all_to_leave();
    context.door.connections().shut_down_all();
    closed(context, FAILED_FLUSH_MAX).await;
    context.door.connections().cut_all();
    ended
}

async fn drain(context: &Context, health: &mut watch::Receiver<Health>) -> Ended {
    let deadline = Instant::now() + context.config.drain_max;
    context.hub.ask_all_to_leave();
    context.door.connections().shut_down_all();
    closed(context, context.config.drain_max).await;
    let connections = context.door.connections().count();
    if connections > 0 {
        tracing::warn!(connections, "the time to drain is up; cutting what is left");
        context.door.connections().cut_all();
    }
    // Appends whose connections are gone are still stored.
    let left = deadline.saturating_duration_since(Instant::now()).max(STORE_SHUT_DOWN_MIN);
    match tokio::time::timeout(left, context.store.shut_down()).await {
        Ok(Ok(())) if connections == 0 => Ended::Drained,
        Ok(Ok(())) => Ended::Cut { connections },
        Ok(Err(StoreError::Failed { reason })) => Ended::StoreFailed { reason },
        Ok(Err(error)) => match &*health.borrow() {
            Health::Failed { reason } => Ended::StoreFailed { reason: reason.clone() },
            _ => Ended::StoreFailed { reason: error.to_string() },
        },
        Err(_) => Ended::StoreFailed { reason: "the store did not stop in time".to_owned() },
    }
}

/// The store gets at least this long to finish, however long connections took.
const STORE_SHUT_DOWN_MIN: Duration = Duration::from_secs(5);

/// Longest time that a follow has to take what tells it to leave.
const STALLED_FOLLOW_MAX: Duration = Duration::from_secs(1);

/// Waits until no connection is open, or until `limit` is over. Connections that came in
/// meanwhile are told as well.
async fn closed(context: &Context, limit: Duration) {
    let begin = Instant::now();
    let deadline = begin + limit;
    let mut checks = tokio::time::interval(Duration::from_millis(10));
    while context.door.connections().count() > 0 && Instant::now() < deadline {
        checks.tick().await;
        context.door.connections().shut_down_all();
        if begin.elapsed() > STALLED_FOLLOW_MAX {
            context.door.connections().cut_stalled_follows();
        }
    }
}
