//! The committer's loop: a batch, then what is done between batches.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use squall_stream::limits::StreamLimits;
use squall_stream::observer::{Change, UnreadyReason};
use squall_stream::store::StreamId;

use crate::committer::checkpoint::Log;
use crate::committer::purge::Purges;
use crate::committer::states::States;
use crate::committer::writer::Writer;
use crate::config::SqliteConfig;
use crate::job::Job;
use crate::queue::Taken;
use crate::reader::Readers;
use crate::shared::Shared;

/// Why the committer has to stop for good.
#[derive(Debug)]
pub(crate) struct Fatal(pub(crate) String);

/// What the thread works with.
pub(crate) struct Committer<'c> {
    pub(super) shared: &'c Shared,
    pub(super) readers: &'c Readers,
    pub(super) limits: StreamLimits,
    pub(super) tick: Duration,
    pub(super) writer: Writer<'c>,
    pub(super) states: States,
    pub(super) log: Log,
    pub(super) purges: Purges,

    // What the batch at hand has done, empty between batches.
    pub(super) changes: Vec<Change>,
    pub(super) ended: Vec<StreamId>,
    pub(super) events: u64,
    pub(super) event_bytes: u64,

    /// Why changes are refused now.
    pub(super) unready: Option<UnreadyReason>,
    pub(super) next_tick: Instant,
    /// When the committer last had something to do.
    pub(super) busy_at: Instant,
}

impl<'c> Committer<'c> {
    pub(super) fn new(
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
    pub(super) fn run(&mut self) -> Result<(), Fatal> {
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
