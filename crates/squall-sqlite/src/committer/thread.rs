//! The committer's thread: how it starts, and what follows however it ends.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use squall_stream::request::StoreError;
use tokio::sync::watch;

use crate::committer::checkpoint::Log;
use crate::committer::writer::Writer;
use crate::committer::{Committer, Fatal};
use crate::config::SqliteConfig;
use crate::open::{OpenError, Opened};
use crate::reader::Readers;
use crate::shared::Shared;

/// How the committer ended, once it has.
pub(crate) type Finished = watch::Receiver<Option<Result<(), StoreError>>>;

/// Starts the committer and returns when it is ready.
pub(crate) fn start(
    opened: Opened,
    config: SqliteConfig,
    shared: Arc<Shared>,
    readers: Arc<Readers>,
) -> Result<(JoinHandle<()>, Finished), OpenError> {
    let (ready, is_ready) = sync_channel(1);
    let (finish, finished) = watch::channel(None);
    let data_dir = config.data_dir.clone();
    let thread = thread::Builder::new().name("squall-commit".to_owned()).spawn(move || {
        let mut ending = Ending { shared: &shared, readers: &readers, finish, outcome: None };
        let tell_ready = |outcome| drop(ready.send(outcome));
        ending.outcome = Some(work(opened, &config, &shared, &readers, tell_ready));
    });
    let thread = thread.map_err(|source| OpenError::Io { path: data_dir, source })?;
    match is_ready.recv() {
        Ok(Some(error)) => Err(OpenError::Sqlite(error)),
        Ok(None) | Err(_) => Ok((thread, finished)),
    }
}

/// Runs the committer and closes the database.
fn work(
    opened: Opened,
    config: &SqliteConfig,
    shared: &Shared,
    readers: &Readers,
    tell_ready: impl FnOnce(Option<rusqlite::Error>),
) -> Result<(), Fatal> {
    let Opened { mut connection, lock } = opened;
    let done = commit(&mut connection, config, shared, readers, tell_ready);
    if done.is_ok() {
        // The log is empty now; without this it would stay behind as an empty file.
        let cut = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
        if let Err(error) = cut {
            tracing::warn!(%error, "the empty write-ahead log stays behind");
        }
    }
    // After a failure nothing may touch the files any more: no checkpoint at the close.
    if let Err((_, error)) = connection.close() {
        tracing::warn!(%error, "the database was not closed");
    }
    drop(lock);
    done
}

/// Runs the committer from its first statement to its last.
fn commit(
    connection: &mut Connection,
    config: &SqliteConfig,
    shared: &Shared,
    readers: &Readers,
    tell_ready: impl FnOnce(Option<rusqlite::Error>),
) -> Result<(), Fatal> {
    let prepared = Log::watch(connection, config).and_then(|log| {
        let writer = Writer::new(connection, &shared.queue, config.busy_timeout)?;
        Ok((log, writer))
    });
    let (log, writer) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            let fatal = Fatal(error.to_string());
            tell_ready(Some(error));
            return Err(fatal);
        }
    };
    tell_ready(None);
    Committer::new(writer, log, config, shared, readers).run()
}

/// Draws the consequences of the thread's end, a panic included.
struct Ending<'a> {
    shared: &'a Shared,
    readers: &'a Readers,
    finish: watch::Sender<Option<Result<(), StoreError>>>,
    outcome: Option<Result<(), Fatal>>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let outcome = match self.outcome.take() {
            Some(Ok(())) => Ok(()),
            Some(Err(Fatal(reason))) => Err(reason),
            None => Err("the committer ended without a reason".to_owned()),
        };
        let outcome = outcome.map_err(|reason| {
            self.shared.fail(&reason);
            StoreError::Failed { reason }
        });
        self.readers.stop();
        self.finish.send_replace(Some(outcome));
    }
}
