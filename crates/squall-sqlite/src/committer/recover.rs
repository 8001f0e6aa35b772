//! Trouble that passes: how the store stops taking changes, and takes them again.

use std::collections::VecDeque;

use squall_stream::observer::{Health, UnreadyReason};
use squall_stream::request::StoreError;

use crate::committer::{Committer, Fatal};
use crate::job::Job;
use crate::trouble::Trouble;

/// What a probe of the disk writes.
const PROBE_BYTES: i64 = 64 * 1024;

impl Committer<'_> {
    /// Takes no changes until `reason` is gone. Returns what callers are told.
    pub(super) fn become_unready(&mut self, reason: UnreadyReason) -> StoreError {
        if self.unready != Some(reason) {
            tracing::warn!(%reason, "changes are refused");
            self.unready = Some(reason);
            self.shared.set_health(Health::Unready(reason));
        }
        StoreError::Unready(reason)
    }

    /// Notes that the store has failed. From here on every outcome is unknown.
    pub(super) fn fail(&self, fatal: &Fatal) {
        tracing::error!(reason = fatal.0, "the store has failed");
        self.shared.fail(&fatal.0);
    }

    /// Draws the consequences of trouble at work that nobody waits for.
    pub(super) fn settle(&mut self, trouble: Trouble) -> Result<(), Fatal> {
        match trouble {
            Trouble::Full => {
                self.become_unready(UnreadyReason::DiskFull);
                Ok(())
            }
            Trouble::Busy => {
                self.become_unready(UnreadyReason::LockedOutside);
                Ok(())
            }
            Trouble::Logic(reason) => {
                tracing::error!(reason, "upkeep failed and was undone");
                Ok(())
            }
            Trouble::Fatal(reason) => {
                let fatal = Fatal(reason);
                self.fail(&fatal);
                Err(fatal)
            }
        }
    }

    /// Looks whether the trouble has passed.
    pub(super) fn recover(&mut self) -> Result<(), Fatal> {
        let Some(reason) = self.unready else {
            return Ok(());
        };
        let passed = match reason {
            UnreadyReason::DiskFull => self.probe_disk().map(|()| true),
            UnreadyReason::WalFull => self.restart_log(),
            UnreadyReason::LockedOutside => self.probe_lock().map(|()| true),
            UnreadyReason::ShuttingDown => Ok(false),
        };
        let passed = match passed {
            Ok(passed) => passed,
            Err(Trouble::Full | Trouble::Busy) => false,
            Err(trouble) => return self.settle(trouble),
        };
        if passed {
            tracing::info!(was = %reason, "changes are taken again");
            self.unready = None;
            self.shared.set_health(Health::Ready);
        }
        Ok(())
    }

    /// Writes and deletes a probe through SQLite, so that whatever limits it is asked,
    /// and copies the log, in case that was what failed.
    fn probe_disk(&mut self) -> Result<(), Trouble> {
        for text in [
            "INSERT OR REPLACE INTO probe (id, filler) VALUES (1, zeroblob(?1))",
            "DELETE FROM probe WHERE length(filler) = ?1",
        ] {
            self.transact(|committer| {
                committer.writer.begin()?;
                let mut statement = committer.writer.connection.prepare_cached(text)?;
                statement.execute([PROBE_BYTES])?;
                Ok(0)
            })?;
        }
        self.copy_log()
    }

    fn probe_lock(&mut self) -> Result<(), Trouble> {
        let begun = self.writer.try_begin();
        let undone = self.writer.roll_back();
        begun.and(undone)
    }

    /// Refuses what came in while changes are refused, but for those that give space back
    /// where that is what is missing.
    pub(super) fn serve_unready(
        &mut self,
        batch: &mut VecDeque<Job>,
        reason: UnreadyReason,
    ) -> Result<(), Fatal> {
        let mut freeing = VecDeque::new();
        for job in batch.drain(..) {
            if reason == UnreadyReason::DiskFull && job.frees_space() {
                freeing.push_back(job);
            } else {
                job.refuse(StoreError::Unready(reason));
            }
        }
        if freeing.is_empty() {
            return Ok(());
        }
        self.commit_batch(&mut freeing)
    }
}
