//! Where a thread's requests come from: the reply before, or a schedule.

use std::time::Duration;

use crate::plan::LoadPlan;
use crate::record::Window;
use crate::schedule::{Arrivals, Schedule, Shape, Share};
use crate::spec::Length;

/// Requests that wait are counted up to this many: it is for people to see, not for the ledger.
const LATE_MAX: u64 = 1_000_000;

/// One thread's share of the load.
#[derive(Debug)]
pub(super) struct Source {
    arrivals: Option<Arrivals>,
    length: Duration,
    seed: u64,
    share: Share,
    /// Measured requests that may still be handed out.
    left: Option<u64>,
    open: Option<OpenLoop>,
}

/// The schedule that is being followed: that of the warm-up, then that of the window.
#[derive(Debug)]
struct OpenLoop {
    schedule: Schedule,
    base_ns: u64,
    is_measured: bool,
}

impl Source {
    /// The share of a thread with `connections`; one without any has no share at all.
    pub(super) fn new(plan: &LoadPlan, share: Share, connections: usize) -> Self {
        let of = u32::try_from(plan.connections).unwrap_or(u32::MAX).clamp(1, share.of);
        let share = Share { of, ..share };
        let (left, length) = match plan.length {
            Length::Requests(requests) => (Some(part(requests, share)), Duration::MAX),
            Length::Time(length) => (None, length),
        };
        // Where nobody sends, followers have the whole window; otherwise others send.
        let is_idle = connections == 0;
        let left = if is_idle && plan.connections > 0 { Some(0) } else { left };
        let arrivals = plan.arrivals.filter(|_| !is_idle);
        Self { arrivals, length, seed: plan.seed, share, left, open: None }
    }

    pub(super) fn is_open(&self) -> bool {
        self.arrivals.is_some()
    }

    /// Begins: at once with the window if that is when it opens.
    pub(super) fn begin(&mut self, begin_ns: u64, window: Window) {
        let Some(arrivals) = self.arrivals else {
            return;
        };
        self.open = if begin_ns < window.start_ns {
            Some(self.schedule(&warm_up(arrivals), begin_ns, false))
        } else {
            Some(self.schedule(&arrivals, window.start_ns, true))
        };
    }

    /// In a closed loop: how many of `count` requests may be handed out, being measured or not.
    pub(super) fn grant(&self, count: usize, is_measured: bool) -> usize {
        match self.left {
            Some(left) if is_measured => count.min(usize::try_from(left).unwrap_or(usize::MAX)),
            _ => count,
        }
    }

    /// Notes that `count` requests were handed out.
    pub(super) fn took(&mut self, count: usize, is_measured: bool) {
        if is_measured && let Some(left) = &mut self.left {
            *left = left.saturating_sub(count as u64);
        }
    }

    /// Whether a number of requests was asked for and all were handed out.
    pub(super) fn is_used_up(&self) -> bool {
        self.left == Some(0)
    }

    /// In an open loop: when the next request is due, before the window's end; it stays due
    /// however late it is.
    pub(super) fn next_due_ns(&mut self, window: Window) -> Option<u64> {
        if self.is_used_up() {
            return None;
        }
        let due_ns = self.due_ns()?;
        let is_over =
            self.open.as_ref().is_some_and(|open| !open.is_measured) && due_ns >= window.start_ns;
        let due_ns = if is_over {
            let arrivals = self.arrivals?;
            self.open = Some(self.schedule(&arrivals, window.start_ns, true));
            self.due_ns()?
        } else {
            due_ns
        };
        (due_ns < window.end_ns).then_some(due_ns)
    }

    /// In an open loop: how many requests are due by now and wait to be sent.
    pub(super) fn late(&self, now_ns: u64) -> u64 {
        let Some(open) = &self.open else {
            return 0;
        };
        let mut schedule = open.schedule.clone();
        let mut late = 0;
        while late < LATE_MAX
            && schedule.next_due_ns().is_some_and(|due| open.base_ns.saturating_add(due) <= now_ns)
        {
            schedule.advance();
            late += 1;
        }
        late
    }

    /// Goes on to the request after it.
    pub(super) fn advance(&mut self) {
        if let Some(open) = &mut self.open {
            open.schedule.advance();
        }
    }

    /// Counts, and gives up, what was due in the window and never handed out.
    pub(super) fn miss_the_rest(&mut self, window: Window) -> u64 {
        let mut missed = 0;
        while let Some(due_ns) = self.next_due_ns(window) {
            if due_ns >= window.start_ns {
                missed += 1;
                self.took(1, true);
            }
            self.advance();
        }
        missed
    }

    fn due_ns(&self) -> Option<u64> {
        let open = self.open.as_ref()?;
        Some(open.base_ns.saturating_add(open.schedule.next_due_ns()?))
    }

    fn schedule(&self, arrivals: &Arrivals, base_ns: u64, is_measured: bool) -> OpenLoop {
        let seed = self.seed ^ u64::from(is_measured);
        let schedule = Schedule::new(arrivals, self.length, seed, self.share);
        OpenLoop { schedule, base_ns, is_measured }
    }
}

/// What comes before a ramp is its first rate.
fn warm_up(arrivals: Arrivals) -> Arrivals {
    match arrivals.shape {
        Shape::Ramp { from, .. } => Arrivals { shape: Shape::Constant, rate: from },
        _ => arrivals,
    }
}

/// This thread's part of `whole`: all parts together are the whole.
fn part(whole: u64, share: Share) -> u64 {
    let (index, of) = (u64::from(share.index), u64::from(share.of.max(1)));
    whole / of + u64::from(index < whole % of)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Share = Share { index: 0, of: 1 };
    const SECOND_NS: u64 = 1_000_000_000;

    fn source(shape: Shape, rate: f64, left: Option<u64>) -> Source {
        let arrivals = Some(Arrivals { shape, rate });
        let length = Duration::from_secs(10);
        Source { arrivals, length, seed: 1, share: ALONE, left, open: None }
    }

    #[test]
    fn parts_make_up_the_whole() {
        for (whole, of) in [(10, 3), (2, 4), (0, 2), (7, 1)] {
            let sum: u64 = (0..of).map(|index| part(whole, Share { index, of })).sum();
            assert_eq!(sum, whole);
        }
    }

    #[test]
    fn the_window_has_a_schedule_of_its_own() {
        let mut source = source(Shape::Constant, 2.0, None);
        let window = Window { start_ns: 10 * SECOND_NS + 1, end_ns: 12 * SECOND_NS };
        source.begin(9 * SECOND_NS, window);
        let mut dues = Vec::new();
        while let Some(due) = source.next_due_ns(window) {
            dues.push(due);
            source.advance();
        }
        let half = SECOND_NS / 2;
        let start = window.start_ns;
        let warm = [9 * SECOND_NS, 9 * SECOND_NS + half, 10 * SECOND_NS];
        let measured = [start, start + half, start + 2 * half, start + 3 * half];
        assert_eq!(dues, [&warm[..], &measured[..]].concat());
    }

    #[test]
    fn what_was_never_handed_out_is_missed_unless_it_belongs_to_the_warm_up() {
        let window = Window { start_ns: SECOND_NS, end_ns: 3 * SECOND_NS };
        let mut open = source(Shape::Constant, 10.0, None);
        open.begin(0, window);
        assert_eq!(open.miss_the_rest(window), 20);
        assert_eq!(open.next_due_ns(window), None);
        let mut counted = source(Shape::Constant, 10.0, Some(7));
        counted.begin(SECOND_NS, Window { end_ns: u64::MAX, ..window });
        assert_eq!(counted.miss_the_rest(Window { end_ns: u64::MAX, ..window }), 7);
    }

    #[test]
    fn a_count_of_requests_holds_for_the_window_only() {
        let mut closed = Source { arrivals: None, ..source(Shape::Constant, 1.0, Some(5)) };
        assert_eq!(closed.grant(16, false), 16);
        closed.took(16, false);
        assert_eq!(closed.grant(16, true), 5);
        closed.took(5, true);
        assert!(closed.is_used_up());
    }
}
