//! Which stamped events one follower has received.

use std::collections::BTreeMap;

use squall_wire::stamp::Stamp;

/// Gaps that are remembered for one follower; further ones count as lost at once.
const GAPS_MAX: usize = 4_096;

/// Publishers of other runs that are told apart for one follower; further ones are only counted.
const FOREIGN_MAX: usize = 1_024;

/// Which stamped events one follower has received.
///
/// Publishers number their events from zero without gaps, so of each only the next number is
/// kept, and the gaps below it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracker {
    run_id: u32,
    /// By publisher of this run: the number after the highest that was received.
    next: Vec<u32>,
    foreign_next: BTreeMap<u64, u64>,
    gaps: Vec<Gap>,
    /// Lost events whose gap was not remembered.
    overflowed: u64,
    pub(crate) delivered: u64,
    pub(crate) repeated: u64,
    pub(crate) reordered: u64,
    /// Stamps of other publishers, repeated ones included.
    pub(crate) foreign: u64,
    /// Those of them that are among the delivered.
    pub(crate) foreign_delivered: u64,
}

/// Numbers of one publisher that were skipped, from the first to before the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gap {
    publisher: u64,
    from: u64,
    to: u64,
}

/// What was appended in a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Appends {
    /// By publisher: how many were sent.
    pub(crate) sent: Vec<u32>,
    /// Those without an ack, sorted, as (publisher, sequence).
    pub(crate) unacked: Vec<(u32, u32)>,
}

/// What a stamp was to a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// Of this run, and new.
    Own,
    /// Of this run, and seen before.
    Again,
    /// Of another run or program.
    Foreign,
}

impl Tracker {
    pub(crate) fn new(run_id: u32) -> Self {
        Self { run_id, ..Self::default() }
    }

    /// Takes in a stamp.
    pub(crate) fn see(&mut self, stamp: Stamp) -> Sight {
        let publisher = stamp.publisher;
        if let Some(index) = self.own(publisher) {
            if self.next.len() <= index {
                self.next.resize(index + 1, 0);
            }
            let next = u64::from(self.next.get(index).copied().unwrap_or(0));
            let (next, is_new) = self.place(publisher, next, stamp.sequence);
            if let Some(slot) = self.next.get_mut(index) {
                *slot = u32::try_from(next).unwrap_or(u32::MAX);
            }
            return if is_new { Sight::Own } else { Sight::Again };
        }
        self.foreign += 1;
        // What came before the first one that was seen is not missed.
        let next = match self.foreign_next.get(&publisher) {
            Some(next) => *next,
            None if self.foreign_next.len() < FOREIGN_MAX => stamp.sequence,
            None => return Sight::Foreign,
        };
        let (next, is_new) = self.place(publisher, next, stamp.sequence);
        self.foreign_delivered += u64::from(is_new);
        self.foreign_next.insert(publisher, next);
        Sight::Foreign
    }

    /// How many events are missing although a later one of the same publisher came.
    pub(crate) fn lost(&self, appends: &Appends) -> u64 {
        self.gaps.iter().map(|gap| gap.lost(self, appends)).sum::<u64>() + self.overflowed
    }

    /// How many acknowledged events of this run are missing and nothing later came: late or
    /// lost, which cannot be told.
    pub(crate) fn undelivered(&self, appends: &Appends) -> u64 {
        (0_u32..)
            .zip(&appends.sent)
            .map(|(publisher, sent)| {
                let next = self.next.get(publisher as usize).copied().unwrap_or(0);
                u64::from(sent.saturating_sub(next))
                    - appends.unacked_within(publisher, next.into(), (*sent).into())
            })
            .sum()
    }

    fn own(&self, publisher: u64) -> Option<usize> {
        let is_own = publisher >> 32 == u64::from(self.run_id);
        is_own.then(|| usize::try_from(publisher & u64::from(u32::MAX)).ok()).flatten()
    }

    /// Places `sequence`; returns the number that is next now, and whether it was new.
    fn place(&mut self, publisher: u64, next: u64, sequence: u64) -> (u64, bool) {
        if sequence >= next {
            if sequence > next {
                self.open_gap(Gap { publisher, from: next, to: sequence });
            }
            self.delivered += 1;
            return (sequence.saturating_add(1), true);
        }
        if self.fill_gap(publisher, sequence) {
            self.reordered += 1;
            self.delivered += 1;
            return (next, true);
        }
        self.repeated += 1;
        (next, false)
    }

    fn open_gap(&mut self, gap: Gap) {
        if self.gaps.len() < GAPS_MAX {
            self.gaps.push(gap);
        } else {
            self.overflowed += gap.to - gap.from;
        }
    }

    fn fill_gap(&mut self, publisher: u64, sequence: u64) -> bool {
        let holds =
            |gap: &Gap| gap.publisher == publisher && (gap.from..gap.to).contains(&sequence);
        let Some(at) = self.gaps.iter().position(holds) else {
            return false;
        };
        let gap = self.gaps.swap_remove(at);
        let parts = [Gap { to: sequence, ..gap }, Gap { from: sequence + 1, ..gap }];
        for part in parts.into_iter().filter(|part| part.from < part.to) {
            self.open_gap(part);
        }
        true
    }
}

impl Gap {
    fn lost(&self, tracker: &Tracker, appends: &Appends) -> u64 {
        let length = self.to - self.from;
        match tracker.own(self.publisher).map(u32::try_from) {
            Some(Ok(publisher)) => length - appends.unacked_within(publisher, self.from, self.to),
            _ => length,
        }
    }
}

impl Appends {
    /// How many appends of `publisher` from number `from` to before `to` have no ack.
    fn unacked_within(&self, publisher: u32, from: u64, to: u64) -> u64 {
        let before = |bound: u64| {
            self.unacked
                .partition_point(|(who, number)| (*who, u64::from(*number)) < (publisher, bound))
        };
        before(to).saturating_sub(before(from)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: u32 = 7;

    fn stamp(publisher: u64, sequence: u64) -> Stamp {
        Stamp { publisher, sequence, time_ns: 0 }
    }

    fn own(publisher: u64, sequence: u64) -> Stamp {
        stamp(u64::from(RUN) << 32 | publisher, sequence)
    }

    /// What a follower of one publisher makes of `sequences`, 20 of which were sent.
    /// Expected: delivered, lost, undelivered, repeated, reordered.
    fn check(make: fn(u64) -> Stamp, sequences: &[u64], expected: (u64, u64, u64, u64, u64)) {
        let mut tracker = Tracker::new(RUN);
        for sequence in sequences {
            tracker.see(make(*sequence));
        }
        let appends = Appends { sent: vec![20], unacked: vec![(0, 18)] };
        let found = (
            tracker.delivered,
            tracker.lost(&appends),
            tracker.undelivered(&appends),
            tracker.repeated,
            tracker.reordered,
        );
        assert_eq!(found, expected, "{sequences:?}");
    }

    #[test]
    fn lost_repeated_and_reordered_events_are_told_apart() {
        let ours = |sequence| own(0, sequence);
        let all: Vec<u64> = (0..20).collect();
        check(ours, &all, (20, 0, 0, 0, 0));
        // Number 18 has no ack, so nobody has to see it.
        check(ours, &[], (0, 0, 19, 0, 0));
        check(ours, &all[..18], (18, 0, 1, 0, 0));
        let odd = [0, 1, 2, 3, 4, 5, 6, 8, 9, 9, 10, 12, 11, 13, 14, 15, 16, 17, 19];
        check(ours, &odd, (18, 1, 0, 1, 1));
    }

    #[test]
    fn the_gaps_of_other_publishers_count_from_the_first_event_that_was_seen() {
        let theirs = |sequence| stamp(99, sequence);
        // The 19 acknowledged appends of our own are lost beside them.
        check(theirs, &[5, 6, 8, 9, 9, 10, 12, 11, 13], (8, 1, 19, 1, 1));
    }

    #[test]
    fn publishers_have_numbers_of_their_own() {
        let mut tracker = Tracker::new(RUN);
        for sequence in 0..3 {
            assert_eq!(tracker.see(own(2, sequence)), Sight::Own);
            assert_eq!(tracker.see(own(0, sequence)), Sight::Own);
        }
        assert_eq!(tracker.see(own(2, 1)), Sight::Again);
        assert_eq!(tracker.see(stamp(3, 1)), Sight::Foreign);
        let appends = Appends { sent: vec![3, 0, 4], unacked: Vec::new() };
        assert_eq!((tracker.lost(&appends), tracker.undelivered(&appends)), (0, 1));
    }

    #[test]
    fn more_gaps_than_are_remembered_still_count() {
        let mut tracker = Tracker::new(RUN);
        let last = 2 * (GAPS_MAX as u64 + 10);
        for sequence in (0..=last).step_by(2) {
            tracker.see(own(0, sequence));
        }
        let sent = vec![u32::try_from(last + 1).unwrap()];
        assert_eq!(tracker.lost(&Appends { sent, unacked: Vec::new() }), last / 2);
    }
}
