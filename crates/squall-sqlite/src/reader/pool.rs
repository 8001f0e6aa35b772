//! The threads, and the one queue that they take reads from.

use std::collections::VecDeque;
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
    /// Opens the connections and starts the threads.
    pub(crate) fn start(config: &SqliteConfig, shared: &Arc<Shared>) -> Result<Self, OpenError> {
        let readers = Self {
            queue: Arc::new(ReadQueue {
                jobs_max: config.reader_queue_max,
                inner: Mutex::default(),
                wake: Condvar::new(),
            }),
            threads: Mutex::default(),
        };
        for at in 0..config.readers.max(1) {
            let mut connection = open_reader(config)?;
            let deadline = Arc::new(Deadline::new(config.read_max));
            deadline.watch(&mut connection)?;
            readers.spawn(at, connection, deadline, shared, config)?;
        }
        Ok(readers)
    }

    fn spawn(
        &self,
        at: usize,
        connection: Connection,
        deadline: Arc<Deadline>,
        shared: &Arc<Shared>,
        config: &SqliteConfig,
    ) -> Result<(), OpenError> {
        let (queue, shared) = (Arc::clone(&self.queue), Arc::clone(shared));
        queue.lock().threads += 1;
        let thread = thread::Builder::new().name(format!("squall-read-{at}")).spawn(move || {
            let guard = Leaving(&queue);
            run(&queue, &connection, &deadline, &shared);
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
        self.queue.push(Box::new(move |session| drop(reply.send(read(session)))))?;
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

fn run(queue: &ReadQueue, connection: &Connection, deadline: &Deadline, shared: &Shared) {
    let mut session = match Session::new(connection, shared) {
        Ok(session) => session,
        Err(error) => {
            tracing::error!(%error, "a reader cannot prepare its statements");
            return;
        }
    };
    while let Some(job) = queue.pop() {
        deadline.start();
        job(&mut session);
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
