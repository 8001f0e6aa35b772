//! A store in a directory of its own, with short words for what is asked of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use rusqlite::Connection;
use squall_sqlite::{SqliteConfig, SqliteStore};
use squall_stream::observer::{Change, Health, StoreObserver};
use squall_stream::request::{Append, AppendAck, AppendError, Create, Read, ReadTarget};
use squall_stream::{ContentType, Expiry, Offset, Page, ReadFrom, StreamName, StreamStore};
use tempfile::TempDir;

/// How long a test waits for what must come.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(30);

/// Remembers what the store reported.
#[derive(Default)]
pub(crate) struct Watcher {
    seen: Mutex<Seen>,
    more: Condvar,
}

#[derive(Default)]
struct Seen {
    changes: Vec<Change>,
    health: Vec<Health>,
}

impl StoreObserver for Watcher {
    fn committed(&self, changes: &[Change]) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.changes.extend_from_slice(changes);
        self.more.notify_all();
    }

    fn health_changed(&self, health: &Health) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.health.push(health.clone());
        self.more.notify_all();
    }
}

impl Watcher {
    /// Waits until the store's health is what `wanted` says, as the last thing reported.
    pub(crate) fn wait_for_health(&self, wanted: impl Fn(&Health) -> bool) {
        self.wait(|seen| seen.health.last().is_some_and(&wanted));
    }

    /// Waits for a change that `wanted` describes.
    pub(crate) fn wait_for_change(&self, wanted: impl Fn(&Change) -> bool) {
        self.wait(|seen| seen.changes.iter().any(&wanted));
    }

    pub(crate) fn health(&self) -> Vec<Health> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).health.clone()
    }

    fn wait(&self, done: impl Fn(&Seen) -> bool) {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.more.wait_timeout_while(seen, WAIT_MAX, |seen| !done(seen));
        let (seen, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "in vain; health: {:?}", seen.health);
    }
}

/// A place for a store, and the clock that it goes by.
pub(crate) struct Place {
    pub(crate) directory: TempDir,
    now: Arc<AtomicU64>,
}

/// An open store.
pub(crate) struct Opened {
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) watcher: Arc<Watcher>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let now = Arc::new(AtomicU64::new(1_800_000_000_000));
        Self { directory: tempfile::tempdir().unwrap(), now }
    }

    /// Moves the store's clock, also back.
    pub(crate) fn pass(&self, millis: i64) {
        self.now.fetch_add(millis.cast_unsigned(), Ordering::SeqCst);
    }

    /// The defaults, but for what makes a test quick.
    pub(crate) fn config(&self) -> SqliteConfig {
        let now = Arc::clone(&self.now);
        let mut config = SqliteConfig::new(self.directory.path());
        config.clock = Arc::new(move || squall_stream::UnixMillis(now.load(Ordering::SeqCst)));
        config.tick = Duration::from_millis(20);
        config
    }

    pub(crate) fn open(&self) -> Opened {
        self.open_with(|_| {})
    }

    pub(crate) fn open_with(&self, change: impl FnOnce(&mut SqliteConfig)) -> Opened {
        let watcher = Arc::new(Watcher::default());
        let mut config = self.config();
        change(&mut config);
        let observer = Arc::<Watcher>::clone(&watcher);
        Opened { store: SqliteStore::open(config, observer).unwrap(), watcher }
    }

    /// A connection as the `sqlite3` shell has one.
    pub(crate) fn outside(&self) -> Connection {
        let connection = Connection::open(self.directory.path().join("squall.db")).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        connection
    }

    /// One number that the database says, asked from outside.
    pub(crate) fn ask(&self, query: &str) -> i64 {
        self.outside().query_row(query, [], |row| row.get(0)).unwrap()
    }

    /// Asks until the answer is `expected`.
    pub(crate) async fn ask_until(&self, query: &str, expected: i64) {
        let deadline = tokio::time::Instant::now() + WAIT_MAX;
        while self.ask(query) != expected {
            assert!(tokio::time::Instant::now() < deadline, "{query} is {}", self.ask(query));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Opened {
    pub(crate) async fn append(&self, stream: &str, payload: &str) -> AppendAck {
        self.try_append(stream, payload).await.unwrap()
    }

    pub(crate) async fn try_append(
        &self,
        stream: &str,
        payload: &str,
    ) -> Result<AppendAck, AppendError> {
        self.store.append(append(stream, payload)).await
    }

    pub(crate) async fn create(&self, stream: &str, expiry: Expiry) {
        let create = Create {
            name: name(stream),
            content_type: Some(ContentType::text_plain()),
            expiry,
            closed: false,
            events: Vec::new(),
        };
        self.store.create(create).await.unwrap();
    }

    pub(crate) async fn page(&self, stream: &str, from: u64, bytes_max: usize) -> Page {
        let from = ReadFrom::At(Offset::at(from));
        let target = ReadTarget::Name(name(stream));
        self.store.read(Read { target, from, bytes_max }).await.unwrap()
    }

    /// Everything that a stream holds.
    pub(crate) async fn payloads(&self, stream: &str) -> Vec<Bytes> {
        let target = ReadTarget::Name(name(stream));
        let read = Read { target, from: ReadFrom::Start, bytes_max: 1 << 30 };
        let page = self.store.read(read).await.unwrap();
        page.events().map(|event| event.payload).collect()
    }

    pub(crate) async fn exists(&self, stream: &str) -> bool {
        self.store.describe(name(stream)).await.is_ok()
    }

    pub(crate) async fn shut_down(self) {
        self.store.shut_down().await.unwrap();
    }
}

pub(crate) fn name(text: &str) -> StreamName {
    StreamName::parse(text).unwrap()
}

/// An append of one event to a text stream, which it creates if there is none.
pub(crate) fn append(stream: &str, payload: &str) -> Append {
    let events = vec![Bytes::copy_from_slice(payload.as_bytes())];
    let mut append = Append::new(name(stream), ContentType::text_plain(), events);
    append.create = true;
    append
}
