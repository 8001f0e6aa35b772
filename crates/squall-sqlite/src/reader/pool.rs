//! The threads, and the one queue that they take reads from.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use squall_stream::observer::UnreadyReason;
use squall_stream::request::StoreError;
use tokio::sync::oneshot;

use crate::config::SqliteConfig;
use crate::open::{OpenError, open_reader};
use crate::reader::Session;
use crate::reader::deadline::Deadline;
use crate::shared::Shared;

/// One read, to be run on a reader's thread. It answers its caller itself.
type Job = Box<dyn FnOnce(&mut Session<'_>) + Send>;

pub(crate) struct Readers {
    queue: Arc<ReadQueue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct ReadQueue {
    jobs_max: usize,
    inner: Mutex<Inner>,
    wake: Condvar,
}

#[derive(Default)]
struct Inner {
    jobs: VecDeque<Job>,
    refusals: u64,
    idle: usize,
    threads: usize,
    closed: bool,
}

/// The caller's end of a read.
pub(crate) struct Reading<T, E>(oneshot::Receiver<Result<T, E>>);

impl<T, E: From<StoreError>> Reading<T, E> {
    /// Waits for the answer.
    pub(crate) async fn answer(self) -> Result<T, E> {
        let gone = |_| Err(StoreError::Unready(UnreadyReason::ShuttingDown).into());
        self.0.await.unwrap_or_else(gone)
    }
}

impl Readers {
    /// Opens the connections, starts the threads and waits until each can read.
    pub(crate) fn start(config: &SqliteConfig, shared: &Arc<Shared>) -> Result<Self, OpenError> {
        let readers = Self {
            queue: Arc::new(ReadQueue {
                jobs_max: config.reader_queue_max,
                inner: Mutex::default(),
                wake: Condvar::new(),
            }),
            threads: Mutex::default(),
        };
        let threads = config.readers.max(1);
        let (ready, is_ready) = sync_channel(threads);
        for at in 0..threads {
            let mut connection = open_reader(config)?;
            let deadline = Arc::new(Deadline::new(config.read_max));
            deadline.watch(&mut connection)?;
            let reader = Reader { connection, deadline, ready: ready.clone() };
            readers.spawn(at, reader, shared, config)?;
        }
        drop(ready);
        is_ready.iter().collect::<Result<(), _>>()?;
        Ok(readers)
    }

    fn spawn(
        &self,
        at: usize,
        reader: Reader,
        shared: &Arc<Shared>,
        config: &SqliteConfig,
    ) -> Result<(), OpenError> {
        let (queue, shared) = (Arc::clone(&self.queue), Arc::clone(shared));
        queue.lock().threads += 1;
        let thread = thread::Builder::new().name(format!("squall-read-{at}")).spawn(move || {
            let guard = Leaving(&queue);
            reader.run(&queue, &shared);
            drop(guard);
        });
        let thread =
            thread.map_err(|source| OpenError::Io { path: config.data_dir.clone(), source })?;
        self.threads().push(thread);
        Ok(())
    }

    /// Hands a read to the pool, or says at once why not.
    pub(crate) fn read<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        read: impl FnOnce(&mut Session<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<Reading<T, E>, StoreError> {
        let (reply, answer) = oneshot::channel();
        let read = move |session: &mut Session<'_>| {
            let answer = catch_unwind(AssertUnwindSafe(|| read(session)));
            session.leave_snapshot();
            let answer = answer.unwrap_or_else(|_| {
                let reason = "the read panicked".to_owned();
                Err(StoreError::Failed { reason }.into())
            });
            drop(reply.send(answer));
        };
        self.queue.push(Box::new(read))?;
        Ok(Reading(answer))
    }

    /// Reads that wait, and how many were refused since the start.
    pub(crate) fn gauges(&self) -> (u64, u64) {
        let inner = self.queue.lock();
        (inner.jobs.len() as u64, inner.refusals)
    }

    /// Ends the threads once they have done what they are at, and closes the connections.
    pub(crate) fn stop(&self) {
        self.queue.close();
        let threads = std::mem::take(&mut *self.threads());
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a reader had panicked");
            }
        }
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What a reader's thread works with.
struct Reader {
    connection: Connection,
    deadline: Arc<Deadline>,
    ready: SyncSender<Result<(), rusqlite::Error>>,
}

impl Reader {
    /// Prepares the statements, says whether that went well, and reads until the queue is
    /// closed.
    fn run(self, queue: &ReadQueue, shared: &Shared) {
        let Self { connection, deadline, ready } = self;
        let mut session = match Session::new(&connection, shared) {
            Ok(session) => session,
            Err(error) => return drop(ready.send(Err(error))),
        };
        let told = ready.send(Ok(()));
        drop(ready);
        if told.is_err() {
            return;
        }
        while let Some(job) = queue.pop() {
            deadline.start();
            job(&mut session);
        }
    }
}

/// Closes the queue when the last thread leaves, so that no read waits for ever.
struct Leaving<'a>(&'a ReadQueue);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut inner = self.0.lock();
        inner.threads -= 1;
        let last = inner.threads == 0;
        drop(inner);
        if last {
            self.0.close();
        }
    }
}

impl ReadQueue {
    fn push(&self, job: Job) -> Result<(), StoreError> {
        let mut inner = self.lock();
        if inner.closed {
            return Err(StoreError::Unready(UnreadyReason::ShuttingDown));
        }
        if inner.jobs.len() >= self.jobs_max {
            inner.refusals += 1;
            return Err(StoreError::QueueFull { queue: "reader" });
        }
        inner.jobs.push_back(job);
        let wake = inner.idle > 0;
        drop(inner);
        if wake {
            self.wake.notify_one();
        }
        Ok(())
    }

    fn pop(&self) -> Option<Job> {
        let mut inner = self.lock();
        loop {
            if inner.closed {
                return None;
            }
            if let Some(job) = inner.jobs.pop_front() {
                return Some(job);
            }
            inner.idle += 1;
            inner = self.wake.wait(inner).unwrap_or_else(PoisonError::into_inner);
            inner.idle -= 1;
        }
    }

    fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        let jobs = std::mem::take(&mut inner.jobs);
        drop(inner);
        self.wake.notify_all();
        drop(jobs);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use squall_stream::UnixMillis;
    use squall_stream::observer::{Change, Health, StoreObserver};

    use super::*;
    use crate::newest::NewestCache;
    use crate::open::{Opened, open_writer};
    use crate::queue::{Queue, QueueLimits};
    use crate::shared::{Counters, HealthCell};
    use crate::usage::Usage;

    struct Nobody;

    impl StoreObserver for Nobody {
        fn committed(&self, _: &[Change]) {}
        fn health_changed(&self, _: &Health) {}
    }

    struct Pool {
        readers: Readers,
        _opened: Opened,
        _directory: tempfile::TempDir,
    }

    /// One reader over an empty database.
    fn pool() -> Pool {
        let directory = tempfile::tempdir().unwrap();
        let mut config = SqliteConfig::new(directory.path());
        (config.readers, config.read_max) = (1, Duration::from_millis(50));
        let opened = open_writer(&config).unwrap();
        let limits =
            QueueLimits { jobs_max: 1, bytes_max: 1, batch_jobs_max: 1, batch_bytes_max: 1 };
        let shared = Arc::new(Shared {
            clock: config.clock.clone(),
            observer: Arc::new(Nobody),
            queue: Queue::new(limits),
            newest: NewestCache::new(0),
            usage: Usage::new(UnixMillis(0)),
            counters: Counters::default(),
            health: HealthCell::ready(),
        });
        let readers = Readers::start(&config, &shared).unwrap();
        Pool { readers, _opened: opened, _directory: directory }
    }

    impl Pool {
        fn ask(
            &self,
            read: impl FnOnce(&mut Session<'_>) -> Result<i64, StoreError> + Send + 'static,
        ) -> Result<i64, StoreError> {
            self.readers.read(read).unwrap().0.blocking_recv().unwrap()
        }

        fn assert_reads(&self) {
            let answer = self.ask(|session| session.in_snapshot(|_| Ok(7)));
            assert_eq!(answer, Ok(7));
            let outside = self.ask(|session| Ok(i64::from(session.connection.is_autocommit())));
            assert_eq!(outside, Ok(1), "no snapshot is left open");
        }
    }

    #[test]
    fn a_read_that_panics_fails_alone() {
        let pool = pool();
        let answer = pool.ask(|session| session.in_snapshot(|_| panic!("as a test")));
        assert!(matches!(answer, Err(StoreError::Failed { .. })), "{answer:?}");
        pool.assert_reads();
    }

    #[test]
    fn a_transaction_that_is_left_open_is_left_by_the_next_read() {
        let pool = pool();
        let answer = pool.ask(|session| {
            session.connection.execute_batch("BEGIN").unwrap();
            session.in_snapshot(|_| Ok(7))
        });
        assert_eq!(answer, Ok(7));
        pool.assert_reads();
    }

    #[test]
    fn a_read_that_takes_too_long_leaves_its_snapshot() {
        let pool = pool();
        let answer = pool.ask(|session| {
            session.in_snapshot(|session| {
                let endless = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) \
                               SELECT count(*) FROM n";
                let rows = session.connection.query_row(endless, [], |row| row.get(0));
                rows.map_err(crate::reader::session::failed)
            })
        });
        assert!(matches!(answer, Err(StoreError::Failed { .. })), "{answer:?}");
        pool.assert_reads();
    }
}
