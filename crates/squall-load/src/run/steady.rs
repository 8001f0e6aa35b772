//! When a warm-up is over by itself.

/// Length of one slice, in nanoseconds.
pub(super) const SLICE_NS: u64 = 250_000_000;

/// Slices that are compared: two seconds against the two before.
const SLICES: usize = 8;

/// Relative change of the rate that still counts as steady.
const CHANGE_MAX: f64 = 0.05;

/// Watches the rate of verified replies, slice by slice.
#[derive(Debug, Default)]
pub(super) struct Steadiness {
    last_replies: Option<u64>,
    slices: Vec<f64>,
}

impl Steadiness {
    /// Takes in the sum of replies at the end of a slice; `true` once the rate is steady.
    pub(super) fn is_steady_after(&mut self, replies: u64) -> bool {
        if let Some(last) = self.last_replies.replace(replies) {
            self.slices.push(replies.saturating_sub(last) as f64);
        }
        let Some(first) = self.slices.len().checked_sub(2 * SLICES) else {
            return false;
        };
        let recent = self.slices.get(first..).unwrap_or_default();
        let (before, after) = recent.split_at(SLICES);
        let (before, after): (f64, f64) = (before.iter().sum(), after.iter().sum());
        // A server that answers nothing is not steady, it is silent.
        before > 0.0 && ((after - before) / before).abs() <= CHANGE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many slices of these rates it is steady.
    fn check(rates: impl Iterator<Item = u64>, expected: Option<usize>) {
        let mut steadiness = Steadiness::default();
        let mut sum = 0;
        let sums = rates.map(|rate| {
            sum += rate;
            sum
        });
        let found = sums.take(300).position(|sum| steadiness.is_steady_after(sum));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_constant_rate_is_steady_and_a_rising_or_silent_one_is_not() {
        check(std::iter::repeat(100), Some(16));
        check((0..).map(|slice| 100 << (slice / 8).min(40)), None);
        check(std::iter::repeat(0), None);
        // A server that gets warm: steady once it stops getting faster.
        check((0..).map(|slice: u64| 100 * slice.min(20)), Some(32));
    }
}
