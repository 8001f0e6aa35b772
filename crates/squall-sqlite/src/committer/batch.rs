//! One batch, one transaction.

use std::collections::VecDeque;

use squall_stream::observer::{Change, UnreadyReason};
use squall_stream::request::StoreError;

use crate::committer::{Committer, Fatal};
use crate::job::Job;
use crate::trouble::Trouble;

impl Committer<'_> {
    /// Commits a batch and answers its callers. If one change cannot be stored, each is
    /// tried alone, so that only the bad one fails.
    pub(super) fn commit_batch(&mut self, batch: &mut VecDeque<Job>) -> Result<(), Fatal> {
        match self.attempt(batch.make_contiguous()) {
            Ok(()) => {
                batch.drain(..).for_each(Job::deliver);
                Ok(())
            }
            Err(Trouble::Logic(_)) if batch.len() > 1 => self.commit_singly(batch),
            Err(trouble) => self.refuse(batch, trouble),
        }
    }

    fn commit_singly(&mut self, batch: &mut VecDeque<Job>) -> Result<(), Fatal> {
        while let Some(mut job) = batch.pop_front() {
            match self.attempt(std::slice::from_mut(&mut job)) {
                Ok(()) => job.deliver(),
                Err(Trouble::Logic(reason)) => {
                    tracing::error!(reason, "a change could not be stored and was undone");
                    job.refuse(StoreError::Failed { reason });
                }
                Err(trouble) => {
                    batch.push_front(job);
                    return self.refuse(batch, trouble);
                }
            }
        }
        Ok(())
    }

    /// Tells a whole batch why it was not committed, and draws the consequences.
    fn refuse(&mut self, batch: &mut VecDeque<Job>, trouble: Trouble) -> Result<(), Fatal> {
        let (error, fatal) = match trouble {
            Trouble::Full => (self.become_unready(UnreadyReason::DiskFull), None),
            Trouble::Busy => (self.become_unready(UnreadyReason::LockedOutside), None),
            Trouble::Logic(reason) => (StoreError::Failed { reason }, None),
            Trouble::Fatal(reason) => (StoreError::OutcomeUnknown, Some(Fatal(reason))),
        };
        if let Some(fatal) = fatal {
            // The store has failed before anybody hears that an outcome is unknown.
            self.fail(&fatal);
            batch.drain(..).for_each(|job| job.refuse(error.clone()));
            return Err(fatal);
        }
        batch.drain(..).for_each(|job| job.refuse(error.clone()));
        Ok(())
    }

    /// Carries jobs out and commits them. Afterwards either all of it is durable, merged
    /// and reported, or nothing of it is there.
    pub(super) fn attempt(&mut self, jobs: &mut [Job]) -> Result<(), Trouble> {
        let now = self.shared.now();
        self.transact(|committer| {
            for job in jobs.iter_mut() {
                committer.carry_out(job, now)?;
            }
            Ok(jobs.len())
        })
    }

    /// Runs `work` in a transaction, which is opened by its first write. It returns how
    /// many changes it was.
    pub(super) fn transact(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<usize, Trouble>,
    ) -> Result<(), Trouble> {
        let done = work(self).and_then(|changes| {
            self.states.write_rows(&mut self.writer)?;
            if self.writer.events.is_portion_full() {
                self.writer.index_events()?;
            }
            let wrote = self.writer.commit()?;
            Ok((changes, wrote))
        });
        match done {
            Ok((changes, wrote)) => {
                self.publish(changes, wrote);
                Ok(())
            }
            Err(trouble) => Err(self.undo(trouble)),
        }
    }

    /// Everything that may be known only now that the changes are durable.
    fn publish(&mut self, changes: usize, wrote: bool) {
        self.states.merge(self.shared);
        for stream in self.ended.drain(..) {
            self.shared.usage.forget(stream);
            self.purges.note();
        }
        if wrote {
            let counters = &self.shared.counters;
            counters.committed(changes, self.events, self.event_bytes);
            counters.set_cached_streams(self.states.len());
            counters.set_wal_bytes(self.log.bytes());
        }
        (self.events, self.event_bytes) = (0, 0);
        if !self.changes.is_empty() {
            let trimmed = |change: &Change| matches!(change, Change::Trimmed { .. });
            if self.changes.iter().any(trimmed) {
                self.purges.note();
            }
            self.shared.observer.committed(&self.changes);
            self.changes.clear();
        }
    }

    fn undo(&mut self, trouble: Trouble) -> Trouble {
        self.states.discard();
        self.changes.clear();
        self.ended.clear();
        (self.events, self.event_bytes) = (0, 0);
        if matches!(trouble, Trouble::Fatal(_)) {
            return trouble;
        }
        match self.writer.roll_back() {
            Ok(()) => trouble,
            Err(worse) => worse,
        }
    }
}
