//! Ends streams whose time is over, and writes down renewals that are in memory only.
//!
//! Limit: a sweep looks at [`SWEEP_MAX`] streams of each kind; what is left comes next.

use squall_stream::store::StreamId;
use squall_stream::{StreamName, UnixMillis};

use crate::committer::states::Changed;
use crate::committer::{Committer, Fatal};
use crate::rows::sql;
use crate::trouble::Trouble;
use crate::usage::Pending;

const SWEEP_MAX: usize = 500;

impl Committer<'_> {
    /// Ends what has expired and writes down what is due. Does nothing while changes are
    /// refused.
    pub(super) fn sweep(&mut self) -> Result<(), Fatal> {
        if self.unready.is_some() {
            return Ok(());
        }
        let pending = self.shared.usage.take_pending(SWEEP_MAX);
        let now = self.shared.now();
        let overdue = match self.overdue(now) {
            Ok(overdue) => overdue,
            Err(trouble) => return self.settle(trouble),
        };
        if pending.is_empty() && overdue.is_empty() {
            return Ok(());
        }
        if overdue.len() == SWEEP_MAX {
            self.next_tick = std::time::Instant::now();
        }
        self.write_down(&pending, &overdue, now).map(drop)
    }

    /// Writes down every renewal that the database does not know, and ends what has
    /// expired, so that the next opening does not prolong it.
    pub(super) fn sweep_all(&mut self) -> Result<(), Fatal> {
        self.shared.usage.make_all_due();
        loop {
            let pending = self.shared.usage.take_pending(SWEEP_MAX);
            let now = self.shared.now();
            let overdue = match self.overdue(now) {
                Ok(overdue) => overdue,
                Err(trouble) => return self.settle(trouble),
            };
            let nothing = pending.is_empty() && overdue.is_empty();
            if nothing || self.unready.is_some() {
                return Ok(());
            }
            if !self.write_down(&pending, &overdue, now)? {
                return Ok(());
            }
        }
    }

    /// Returns whether it could be done.
    fn write_down(
        &mut self,
        pending: &Pending,
        overdue: &[StreamName],
        now: UnixMillis,
    ) -> Result<bool, Fatal> {
        let done = self.transact(|committer| {
            for (stream, used_at) in &pending.streams {
                committer.look_at(*stream, *used_at, now)?;
            }
            for name in overdue {
                committer.end_or_renew(name, now)?;
            }
            Ok(0)
        });
        match done {
            Ok(()) => Ok(true),
            Err(trouble) => {
                self.shared.usage.put_back(pending);
                self.settle(trouble).map(|()| false)
            }
        }
    }

    /// Streams that end by now if no renewal in memory says otherwise.
    fn overdue(&self, now: UnixMillis) -> Result<Vec<StreamName>, Trouble> {
        let mut overdue = self.writer.connection.prepare_cached(
            "SELECT name FROM streams WHERE deadline <= ?1 ORDER BY deadline LIMIT ?2",
        )?;
        let bounds = [sql(now.0), sql(SWEEP_MAX as u64)];
        let mut rows = overdue.query(bounds)?;
        let mut names = Vec::new();
        while let Some(row) = rows.next()? {
            let name = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            match StreamName::parse(name) {
                Ok(name) => names.push(name),
                Err(error) => return Err(Trouble::Logic(error.to_string())),
            }
        }
        Ok(names)
    }

    fn look_at(
        &mut self,
        stream: StreamId,
        used_at: Option<UnixMillis>,
        now: UnixMillis,
    ) -> Result<(), Trouble> {
        let Some((name, mut state)) = self.writer.stream_by_id(stream)? else {
            self.shared.usage.forget(stream);
            return Ok(());
        };
        if let Some(used_at) = used_at {
            self.shared.usage.refresh(&mut state);
            if !self.shared.usage.is_over(&state, used_at) {
                self.shared.usage.touch(&state, used_at);
            }
            if !self.shared.usage.is_over(&state, now) {
                return Ok(());
            }
        }
        self.end_or_renew(&name, now)
    }

    /// Ends the stream if its time is over; otherwise writes down until when it lives.
    fn end_or_renew(&mut self, name: &StreamName, now: UnixMillis) -> Result<(), Trouble> {
        let slot = self.states.touch(name, &mut self.writer, self.shared)?;
        if slot.working.is_none() {
            return Ok(());
        }
        match slot.alive(self.shared, now).map(|state| state.expiry) {
            None => self.end(name),
            Some(expiry) => {
                if expiry.renewal_interval_ms().is_some() {
                    slot.note(Changed::All);
                }
                Ok(())
            }
        }
    }
}
