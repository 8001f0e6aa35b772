//! When the write-ahead log is copied into the database, and what happens when it grows.
//!
//! A checkpoint sits between two batches, so it is taken in small portions: when the log
//! has grown by `wal_checkpoint_bytes`, or sooner when nothing waits. Once all of it is
//! copied and no reader is in it, SQLite writes the log from its start again; the file
//! keeps its size, since overwriting syncs faster than growing. Readers of our own are
//! waited for, briefly; an outside one that holds on makes the store unready in the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::hooks::Wal;
use rusqlite::{Connection, Error};
use squall_stream::observer::UnreadyReason;

use crate::committer::{Committer, Fatal};
use crate::config::SqliteConfig;
use crate::trouble::Trouble;

/// Bytes of the log beside each page, and at its start.
const FRAME_HEADER_BYTES: u64 = 24;
/// A store that had nothing to do for so long copies what little is in the log.
const IDLE: Duration = Duration::from_millis(500);
/// Longest wait for readers of our own before the log starts over.
const READERS_LEAVE_MAX: Duration = Duration::from_millis(20);
/// Longest wait for outside readers at a shutdown.
const OUTSIDERS_LEAVE_MAX: Duration = Duration::from_secs(1);
/// Sleep between two tries.
const PAUSE: Duration = Duration::from_millis(1);
/// Pause after a checkpoint that a reader held up.
const HELD_UP: Duration = Duration::from_millis(100);
/// Pause after a reader kept the log from starting over.
const NOT_RESTARTED: Duration = Duration::from_secs(1);

/// What is known of the write-ahead log.
pub(super) struct Log {
    /// Pages in the log, as the last commit left them.
    pages: Arc<AtomicI64>,
    /// Something was committed since the last checkpoint that copied all.
    dirty: Arc<AtomicBool>,
    /// Those of them that a checkpoint has copied.
    copied: i64,
    /// The most pages that the log had since its file was cut.
    pages_max: i64,
    frame_bytes: u64,
    checkpoint_bytes: u64,
    bytes_max: u64,
    retry_at: Instant,
    restart_at: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Copies what no reader holds back.
    Passive,
    /// Copies all, and makes the next commit start the log over.
    Restart,
    /// The same, and cuts the file.
    Truncate,
}

impl Log {
    /// Follows the log of `connection`, on which alone it grows.
    pub(super) fn watch(connection: &mut Connection, config: &SqliteConfig) -> Result<Self, Error> {
        let page_size: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = Arc::new(AtomicI64::new(0));
        let seen = Arc::clone(&pages);
        // An earlier process may have left something: the first checkpoint tells.
        let dirty = Arc::new(AtomicBool::new(true));
        let committed = Arc::clone(&dirty);
        connection.wal_hook(Some(move |_: &mut Wal, pages| {
            seen.store(i64::from(pages), Ordering::Relaxed);
            committed.store(true, Ordering::Relaxed);
            Ok(())
        }))?;
        let now = Instant::now();
        Ok(Self {
            pages,
            dirty,
            copied: 0,
            pages_max: 0,
            frame_bytes: u64::from(page_size) + FRAME_HEADER_BYTES,
            checkpoint_bytes: config.wal_checkpoint_bytes,
            bytes_max: config.wal_bytes_max,
            retry_at: now,
            restart_at: now,
        })
    }

    fn pages(&self) -> i64 {
        self.pages.load(Ordering::Relaxed)
    }

    /// Takes note of what the last commits did.
    fn catch_up(&mut self) {
        let pages = self.pages();
        if pages < self.copied {
            self.copied = 0;
        }
        self.pages_max = self.pages_max.max(pages);
    }

    fn bytes_of(&self, pages: i64) -> u64 {
        u64::try_from(pages).unwrap_or_default() * self.frame_bytes
    }

    /// Bytes of the log that are in use.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes_of(self.pages())
    }

    fn uncopied_bytes(&self) -> u64 {
        self.bytes_of(self.pages() - self.copied)
    }

    fn is_dirty(&self) -> bool {
        self.dirty.load(Ordering::Relaxed)
    }

    /// Takes note of what a checkpoint found and did. Another process may have taken one
    /// before, so the log is as long as SQLite says, not as our last commit left it.
    fn checkpointed(&mut self, mode: Mode, whole: bool, pages: i64, copied: i64) {
        let starts_over = whole && mode != Mode::Passive;
        let pages = if starts_over { 0 } else { pages.max(0) };
        self.pages.store(pages, Ordering::Relaxed);
        self.copied = copied.clamp(0, pages);
        self.dirty.store(!whole, Ordering::Relaxed);
        if whole && mode == Mode::Truncate {
            self.pages_max = 0;
        }
    }

    fn is_full(&self) -> bool {
        self.bytes() >= self.bytes_max
    }
}

impl Committer<'_> {
    /// When an idle store should look at its log.
    pub(super) fn idle_checkpoint_at(&self) -> Option<Instant> {
        let waits = self.log.is_dirty() || self.is_log_oversized();
        waits.then(|| (self.busy_at + IDLE).max(self.log.retry_at))
    }

    /// Copies the log into the database if it is time to.
    pub(super) fn checkpoint_if_due(&mut self) -> Result<(), Fatal> {
        self.log.catch_up();
        let due = self.due_mode(Instant::now());
        let whole = due.map(|mode| self.checkpoint_within(mode, READERS_LEAVE_MAX));
        let whole = match whole.transpose() {
            Ok(whole) => whole.unwrap_or(false),
            Err(trouble) => return self.settle(trouble),
        };
        // Also between two tries: the last one says that somebody holds the log.
        if !whole && self.log.is_full() && self.unready.is_none() {
            self.become_unready(UnreadyReason::WalFull);
        }
        Ok(())
    }

    fn due_mode(&self, now: Instant) -> Option<Mode> {
        let (uncopied, portion) = (self.log.uncopied_bytes(), self.log.checkpoint_bytes);
        let is_long = self.log.bytes() >= portion.saturating_mul(2) || self.log.is_full();
        if is_long && now >= self.log.restart_at {
            return Some(Mode::Restart);
        }
        if now < self.log.retry_at {
            return None;
        }
        if uncopied >= portion {
            return Some(Mode::Passive);
        }
        if !self.shared.queue.is_empty() {
            return None;
        }
        let is_idle = now.duration_since(self.busy_at) >= IDLE;
        if is_idle && self.is_log_oversized() {
            return Some(Mode::Truncate);
        }
        let due = uncopied >= portion / 4 || (is_idle && self.log.is_dirty());
        due.then_some(Mode::Passive)
    }

    /// Whether an outside reader once made the file much longer than it has to be.
    fn is_log_oversized(&self) -> bool {
        let length = self.log.bytes_of(self.log.pages_max);
        length > self.log.checkpoint_bytes.saturating_mul(4)
    }

    /// Tries to make the log start over. Returns whether it will.
    pub(super) fn restart_log(&mut self) -> Result<bool, Trouble> {
        self.checkpoint_within(Mode::Restart, READERS_LEAVE_MAX)
    }

    /// Copies what can be copied.
    pub(super) fn copy_log(&mut self) -> Result<(), Trouble> {
        self.checkpoint_within(Mode::Passive, Duration::ZERO).map(drop)
    }

    /// Empties the log for the next opening. A reader outside, or a full disk, may keep
    /// that from happening; then the next opening finds the log and goes on with it.
    pub(super) fn truncate_log(&mut self) -> Result<(), Fatal> {
        match self.checkpoint_within(Mode::Truncate, OUTSIDERS_LEAVE_MAX) {
            Ok(true) => Ok(()),
            Ok(false) => {
                tracing::warn!("the write-ahead log stays: another process reads from it");
                Ok(())
            }
            Err(trouble) => self.settle(trouble),
        }
    }

    /// Takes a checkpoint, waiting up to `patience` for readers. Returns whether it was
    /// whole: all is copied and, where asked for, the log starts over.
    fn checkpoint_within(&mut self, mode: Mode, patience: Duration) -> Result<bool, Trouble> {
        let started = Instant::now();
        loop {
            let whole = match self.checkpoint(mode) {
                Ok(whole) => whole,
                Err(Trouble::Busy) => false,
                Err(trouble) => {
                    self.log.retry_at = Instant::now() + self.tick;
                    self.log.restart_at = self.log.retry_at;
                    return Err(trouble);
                }
            };
            if whole || mode == Mode::Passive || started.elapsed() >= patience {
                self.note_checkpoint(mode, whole, started.elapsed());
                return Ok(whole);
            }
            // Not in the queue, which is closed at a shutdown.
            std::thread::park_timeout(PAUSE);
        }
    }

    fn note_checkpoint(&mut self, mode: Mode, whole: bool, took: Duration) {
        tracing::debug!(?mode, whole, ?took, "checkpoint");
        let now = Instant::now();
        self.shared.counters.checkpointed();
        self.shared.counters.set_wal_bytes(self.log.bytes());
        if whole {
            return;
        }
        self.log.retry_at = now + HELD_UP;
        if mode != Mode::Passive {
            self.log.retry_at = now + NOT_RESTARTED;
            self.log.restart_at = now + NOT_RESTARTED;
        }
    }

    fn checkpoint(&mut self, mode: Mode) -> Result<bool, Trouble> {
        let text = match mode {
            Mode::Passive => "PRAGMA wal_checkpoint(PASSIVE)",
            Mode::Restart => "PRAGMA wal_checkpoint(RESTART)",
            Mode::Truncate => "PRAGMA wal_checkpoint(TRUNCATE)",
        };
        let mut statement = self.writer.connection.prepare_cached(text)?;
        let (busy, pages, copied): (i64, i64, i64) =
            statement.query_one([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let whole = busy == 0 && copied >= pages;
        self.log.checkpointed(mode, whole, pages, copied);
        Ok(whole)
    }
}
