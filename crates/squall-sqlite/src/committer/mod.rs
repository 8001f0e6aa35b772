//! The one thread that writes: takes what waits, decides it, commits it, answers.
//!
//! A batch is what arrived during the previous sync; the committer never waits for more.
//! Between batches it checkpoints the log, sweeps expired streams, deletes rows that
//! nothing reads any more, and looks whether trouble has passed.
//!
//! Invariant: nothing is answered, reported or cached before its commit. Invariant: after
//! [`Trouble::Fatal`] nothing is committed any more; the loop ends and the store has failed.
//! Start at [`Committer::run`].

mod batch;
mod checkpoint;
mod decide;
mod events;
mod producers;
mod purge;
mod recover;
mod states;
mod sweep;
mod thread;
mod writer;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use squall_stream::limits::StreamLimits;
use squall_stream::observer::{Change, UnreadyReason};
use squall_stream::store::StreamId;

use crate::config::SqliteConfig;
use crate::job::Job;
use crate::queue::Taken;
use crate::reader::Readers;
use crate::shared::Shared;

use checkpoint::Log;
use purge::Purges;
use states::States;
use writer::Writer;

pub(crate) use thread::{Finished, start};

/// Why the committer has to stop for good.
#[derive(Debug)]
pub(crate) struct Fatal(pub(crate) String);

pub(crate) struct Committer<'c> {
    shared: &'c Shared,
    readers: &'c Readers,
    limits: StreamLimits,
    tick: Duration,
    writer: Writer<'c>,
    states: States,
    log: Log,
    purges: Purges,

    // What the batch at hand has done, empty between batches.
    changes: Vec<Change>,
    ended: Vec<StreamId>,
    events: u64,
    event_bytes: u64,

    /// Why changes are refused now.
    unready: Option<UnreadyReason>,
    next_tick: Instant,
    /// When the committer last had something to do.
    busy_at: Instant,
}

impl<'c> Committer<'c> {
    fn new(
        writer: Writer<'c>,
        log: Log,
        config: &SqliteConfig,
        shared: &'c Shared,
        readers: &'c Readers,
    ) -> Self {
        let now = Instant::now();
        Self {
            shared,
            readers,
            limits: config.limits,
            tick: config.tick,
            writer,
            states: States::new(config.cached_streams_max),
            log,
            purges: Purges::new(now),
            changes: Vec::new(),
            ended: Vec::new(),
            events: 0,
            event_bytes: 0,
            unready: None,
            next_tick: now,
            busy_at: now,
        }
    }

    /// Works until the queue is closed and empty.
    fn run(&mut self) -> Result<(), Fatal> {
        let mut batch = VecDeque::new();
        loop {
            match self.shared.queue.take(&mut batch, self.wake_at()) {
                Taken::Jobs => {
                    self.serve(&mut batch)?;
                    self.busy_at = Instant::now();
                }
                Taken::Nothing => {}
                Taken::Closed => return self.finish(),
            }
            self.keep_up()?;
        }
    }

    /// What is done between batches.
    fn keep_up(&mut self) -> Result<(), Fatal> {
        let now = Instant::now();
        if now >= self.next_tick {
            self.next_tick = now + self.tick;
            self.recover()?;
            self.sweep()?;
        }
        self.purge()?;
        self.checkpoint_if_due()
    }

    /// When there is something to do even if no change comes.
    fn wake_at(&self) -> Instant {
        let others = [self.purges.due_at(), self.idle_checkpoint_at()];
        let others = others.into_iter().flatten();
        others.fold(self.next_tick, Instant::min)
    }

    /// The last things to do: nothing waits any more.
    fn finish(&mut self) -> Result<(), Fatal> {
        self.sweep_all()?;
        self.readers.stop();
        self.truncate_log()
    }

    fn serve(&mut self, batch: &mut VecDeque<Job>) -> Result<(), Fatal> {
        match self.unready {
            None => self.commit_batch(batch),
            Some(reason) => self.serve_unready(batch, reason),
        }
    }
}
