//! Ends streams whose time is over, and writes down renewals that are in memory only.
//! A stream that cannot be read or written is passed over, and looked at again later.
//!
//! Limit: a sweep looks at [`SWEEP_MAX`] streams of each kind; what is left comes next.

use squall_stream::store::StreamId;
use squall_stream::{StreamName, UnixMillis};

use crate::committer::states::Changed;
use crate::committer::{Committer, Fatal};
use crate::rows::sql;
use crate::trouble::Trouble;

const SWEEP_MAX: usize = 500;

/// A stream that a sweep looks at.
enum Item {
    /// Used or found expired, as memory says.
    Used(StreamId),
    /// Over, as the database says.
    Overdue(StreamName),
}

/// What a sweep came to.
#[derive(Default)]
struct Swept {
    /// Streams that were ended or written down.
    done: usize,
    /// Changes cannot be written now.
    stuck: bool,
}

impl Committer<'_> {
    /// Ends what has expired and writes down what is due. Does nothing while changes are
    /// refused.
    pub(super) fn sweep(&mut self) -> Result<(), Fatal> {
        if self.unready.is_some() {
            return Ok(());
        }
        let (swept, full) = self.sweep_some()?;
        if full && swept.done > 0 {
            self.next_tick = std::time::Instant::now();
        }
        Ok(())
    }

    /// Writes down every renewal that the database does not know, and ends what has
    /// expired, so that the next opening does not prolong it.
    pub(super) fn sweep_all(&mut self) -> Result<(), Fatal> {
        self.shared.usage.make_all_due();
        while self.unready.is_none() {
            let (swept, _) = self.sweep_some()?;
            if swept.done == 0 || swept.stuck {
                break;
            }
        }
        Ok(())
    }

    /// Looks at some streams. Returns also whether there may be more.
    fn sweep_some(&mut self) -> Result<(Swept, bool), Fatal> {
        let now = self.shared.now();
        let overdue = match self.overdue(now) {
            Ok(overdue) => overdue,
            Err(trouble) => {
                self.settle(trouble)?;
                return Ok((Swept { done: 0, stuck: true }, false));
            }
        };
        let pending = self.shared.usage.take_pending(SWEEP_MAX);
        let full = pending.len() == SWEEP_MAX || overdue.len() == SWEEP_MAX;
        let mut items: Vec<_> = pending.into_iter().map(Item::Used).collect();
        items.extend(overdue.into_iter().map(Item::Overdue));
        let mut swept = Swept::default();
        self.look_at_all(&items, now, &mut swept)?;
        Ok((swept, full))
    }

    /// Looks at streams in one transaction. If one of them cannot be stored, each half is
    /// tried by itself, so that in the end only the bad one is left.
    fn look_at_all(
        &mut self,
        items: &[Item],
        now: UnixMillis,
        swept: &mut Swept,
    ) -> Result<(), Fatal> {
        if items.is_empty() {
            return Ok(());
        }
        if swept.stuck {
            self.put_back(items);
            return Ok(());
        }
        let done = self.transact(|committer| {
            for item in items {
                match item {
                    Item::Used(stream) => committer.look_at(*stream, now)?,
                    Item::Overdue(name) => committer.end_or_renew(name, now)?,
                }
            }
            Ok(0)
        });
        match done {
            Ok(()) => {
                swept.done += items.len();
                Ok(())
            }
            Err(Trouble::Logic(_)) if items.len() > 1 => {
                let (left, right) = items.split_at(items.len() / 2);
                self.look_at_all(left, now, swept)?;
                self.look_at_all(right, now, swept)
            }
            Err(trouble) => {
                self.put_back(items);
                swept.stuck = !matches!(trouble, Trouble::Logic(_));
                self.settle(trouble)
            }
        }
    }

    fn put_back(&self, items: &[Item]) {
        self.shared.usage.put_back(items.iter().filter_map(|item| match item {
            Item::Used(stream) => Some(*stream),
            Item::Overdue(_) => None,
        }));
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
            let name = row.get_ref(0)?.as_str().map_err(|error| error.to_string());
            match name.and_then(|name| StreamName::parse(name).map_err(|error| error.to_string())) {
                Ok(name) => names.push(name),
                Err(error) => tracing::error!(error, "an overdue stream has no proper name"),
            }
        }
        Ok(names)
    }

    fn look_at(&mut self, stream: StreamId, now: UnixMillis) -> Result<(), Trouble> {
        let Some((name, mut state)) = self.writer.stream_by_id(stream)? else {
            self.shared.usage.forget(stream);
            return Ok(());
        };
        self.shared.usage.refresh(&mut state);
        match self.shared.usage.adopt(&state) {
            true => self.end_or_renew(&name, now),
            false => Ok(()),
        }
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
