//! The store: hands changes to the committer, reads to the readers, and answers what it
//! can from memory.

use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use squall_stream::observer::{Health, StoreObserver, UnreadyReason};
use squall_stream::request::{
    Append, AppendAck, AppendError, Create, CreateAck, CreateError, List, Listing, Newest, Read,
    ReadError, StoreError, StreamError, StreamInfo,
};
use squall_stream::store::{BoxFuture, Lookup, StoreGauges, StreamId};
use squall_stream::{Offset, Page, StreamName, StreamStore};

use crate::committer::{self, Finished};
use crate::config::SqliteConfig;
use crate::job::{Job, Ticket, Trim};
use crate::newest::{Found, NewestCache};
use crate::open::{self, OpenError};
use crate::queue::{Queue, QueueLimits};
use crate::reader::{Readers, Session};
use crate::shared::{Counters, HealthCell, Shared};
use crate::usage::Usage;

/// Streams in one SQLite file.
///
/// A change is handed over when its method is called, not when its future is polled, and
/// runs to its end whatever becomes of the future. Dropping the store finishes what waits
/// and closes the file, and blocks for so long; [`StreamStore::shut_down`] does not block.
pub struct SqliteStore {
    shared: Arc<Shared>,
    readers: Arc<Readers>,
    finished: Finished,
    committer: Mutex<Option<JoinHandle<()>>>,
}

/// The version of the SQLite library that is built in.
#[must_use]
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

impl SqliteStore {
    /// Opens the store in `config.data_dir`, and makes it if there is none. Tells
    /// `observer` of every change that becomes durable.
    ///
    /// # Errors
    /// [`OpenError`] says whether another server has the directory, or a newer one wrote
    /// it, or the database is another program's, or the disk refused.
    pub fn open(
        config: SqliteConfig,
        observer: Arc<dyn StoreObserver>,
    ) -> Result<Arc<Self>, OpenError> {
        let opened = open::open_writer(&config)?;
        let shared = Arc::new(Shared {
            usage: Usage::new((config.clock)()),
            clock: config.clock.clone(),
            observer,
            queue: Queue::new(QueueLimits {
                jobs_max: config.append_queue_max.max(1),
                bytes_max: config.append_queue_bytes_max,
                batch_jobs_max: config.batch_appends_max.max(1),
                batch_bytes_max: config.batch_bytes_max,
            }),
            newest: NewestCache::new(config.newest_cache_bytes_max),
            counters: Counters::default(),
            health: HealthCell::ready(),
        });
        let readers = Arc::new(Readers::start(&config, &shared)?);
        let (thread, finished) =
            committer::start(opened, config, Arc::clone(&shared), Arc::clone(&readers))?;
        Ok(Arc::new(Self { shared, readers, finished, committer: Mutex::new(Some(thread)) }))
    }

    /// Hands a change to the committer.
    fn change<R, T, E>(
        &self,
        request: R,
        job: impl FnOnce(Ticket<R, T, E>) -> Job,
    ) -> BoxFuture<'static, Result<T, E>>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (ticket, waiting) = Ticket::new(request);
        let job = job(ticket);
        let refusal = match self.shared.health.refusal() {
            Some(StoreError::Unready(UnreadyReason::DiskFull)) if job.frees_space() => None,
            refusal => refusal,
        };
        let pushed = refusal.map_or_else(|| self.shared.queue.push(job), Err);
        match pushed {
            Ok(()) => Box::pin(waiting.outcome()),
            Err(error) => Box::pin(ready(Err(error.into()))),
        }
    }

    /// Hands a read to the readers.
    fn look_up<T, E>(
        &self,
        read: impl FnOnce(&mut Session<'_>) -> Result<T, E> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, E>>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        match self.readers.read(read) {
            Ok(reading) => Box::pin(reading.answer()),
            Err(error) => Box::pin(ready(Err(error.into()))),
        }
    }

    fn close(&self) {
        let down = Health::Unready(UnreadyReason::ShuttingDown);
        self.shared.set_health(down);
        self.shared.queue.close();
    }
}

impl StreamStore for SqliteStore {
    fn create(&self, create: Create) -> BoxFuture<'_, Result<CreateAck, CreateError>> {
        self.change(create, |ticket| Job::Create(Box::new(ticket)))
    }

    fn append(&self, append: Append) -> BoxFuture<'_, Result<AppendAck, AppendError>> {
        self.change(append, Job::Append)
    }

    fn delete(&self, name: StreamName) -> BoxFuture<'_, Result<(), StreamError>> {
        self.change(name, Job::Delete)
    }

    fn trim(&self, name: StreamName, before: Offset) -> BoxFuture<'_, Result<Offset, StreamError>> {
        self.change(Trim { name, before }, Job::Trim)
    }

    fn read(&self, read: Read) -> BoxFuture<'_, Result<Page, ReadError>> {
        self.look_up(move |session| session.page(&read))
    }

    fn describe(&self, name: StreamName) -> BoxFuture<'_, Result<StreamInfo, StreamError>> {
        self.look_up(move |session| session.describe(name))
    }

    fn newest(&self, name: &StreamName) -> Lookup<Result<Option<Newest>, StoreError>> {
        let shared = &self.shared;
        let found = shared.newest.find(name, &shared.usage, || shared.now());
        match found {
            Found::Known(newest) => Lookup::Ready(Ok(newest)),
            Found::Load(ticket) => {
                let asked = name.clone();
                let reading = self.readers.read(move |session| session.newest(&asked, ticket));
                Lookup::Later(match reading {
                    Ok(reading) => Box::pin(reading.answer()),
                    Err(error) => {
                        shared.newest.abandon(name, ticket);
                        Box::pin(ready(Err(error)))
                    }
                })
            }
        }
    }

    fn list(&self, list: List) -> BoxFuture<'_, Result<Listing, StoreError>> {
        self.look_up(move |session| session.list(&list))
    }

    fn renew(&self, stream: StreamId) {
        self.shared.usage.touch_id(stream, self.shared.now());
    }

    fn callers_idle(&self) {
        self.shared.queue.idle();
    }

    fn health(&self) -> Health {
        self.shared.health.get()
    }

    fn gauges(&self) -> StoreGauges {
        let (reader_queue_length, reader_queue_refusals_total) = self.readers.gauges();
        StoreGauges { reader_queue_length, reader_queue_refusals_total, ..self.shared.gauges() }
    }

    fn shut_down(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.close();
        let mut finished = self.finished.clone();
        Box::pin(async move {
            let outcome = finished.wait_for(Option::is_some).await;
            let outcome = outcome.ok().and_then(|outcome| outcome.clone());
            outcome.unwrap_or(Err(StoreError::OutcomeUnknown))
        })
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.close();
        let mut committer = self.committer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = committer.take()
            && thread.join().is_err()
        {
            tracing::error!("the committer had panicked");
        }
    }
}
