//! One thread's share of the arrivals, one after the other.

use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::arrivals::{Arrivals, Shape};

const SECOND_NS: f64 = 1e9;

/// Which of several threads a schedule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The thread, from 0.
    pub index: u32,
    /// All threads, at least 1.
    pub of: u32,
}

/// The due times of one thread, in order, in nanoseconds since the schedule began.
///
/// Constant and ramp: the threads take turns, so that together they are the schedule of one.
/// Poisson: independent processes, whose sum is again one.
#[derive(Clone, Debug)]
pub struct Schedule {
    shape: Due,
    next_due_ns: Option<u64>,
}

#[derive(Clone, Debug)]
enum Due {
    Constant { rate: f64, turn: u64, of: u64 },
    Poisson { rate: f64, seconds: f64, random: SmallRng },
    Ramp { from: f64, to: f64, length: f64, turn: u64, of: u64 },
}

impl Schedule {
    /// The share of `arrivals`; a ramp is spread over `length`, the others go on for ever.
    #[must_use]
    pub fn new(arrivals: &Arrivals, length: Duration, seed: u64, share: Share) -> Self {
        let (turn, of) = (u64::from(share.index), u64::from(share.of.max(1)));
        let mut shape = match arrivals.shape {
            Shape::Constant => Due::Constant { rate: arrivals.rate, turn, of },
            Shape::Poisson => Due::Poisson {
                rate: arrivals.rate / of as f64,
                seconds: 0.0,
                random: SmallRng::seed_from_u64(
                    seed ^ (turn + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
                ),
            },
            Shape::Ramp { from, to } => {
                Due::Ramp { from, to, length: length.as_secs_f64(), turn, of }
            }
        };
        if matches!(shape, Due::Poisson { .. }) {
            // The first of them is as random as the others, or all threads would begin at once.
            shape.advance();
        }
        let next_due_ns = shape.due();
        Self { shape, next_due_ns }
    }

    /// When the next arrival is due; `None` if there is no further one.
    #[must_use]
    pub fn next_due_ns(&self) -> Option<u64> {
        self.next_due_ns
    }

    /// Goes on to the arrival after it.
    pub fn advance(&mut self) {
        self.shape.advance();
        self.next_due_ns = self.shape.due();
    }
}

impl Due {
    fn advance(&mut self) {
        match self {
            Self::Constant { turn, of, .. } | Self::Ramp { turn, of, .. } => *turn += *of,
            Self::Poisson { rate, seconds, random } => {
                // The open end keeps the logarithm finite.
                let unit: f64 = 1.0 - random.random::<f64>();
                *seconds += -unit.ln() / *rate;
            }
        }
    }

    fn due(&self) -> Option<u64> {
        match self {
            Self::Constant { rate, turn, .. } => Some(to_ns(*turn as f64 / rate)),
            Self::Poisson { seconds, .. } => Some(to_ns(*seconds)),
            Self::Ramp { from, to, length, turn, .. } => {
                ramp_due(*from, *to, *length, *turn as f64)
            }
        }
    }
}

/// The time at which a ramp has brought `count` arrivals: the integral of its rate is a
/// parabola, and this is where it passes `count`.
fn ramp_due(from: f64, to: f64, length: f64, count: f64) -> Option<u64> {
    let slope = (to - from) / length;
    let under_root = 2.0f64.mul_add(slope * count, from * from);
    // Beyond the top of a falling parabola there are no further arrivals.
    if under_root < 0.0 {
        return None;
    }
    // This form of the root neither cancels nor divides by a slope of zero.
    let seconds = 2.0 * count / (from + under_root.sqrt());
    (seconds < length).then(|| to_ns(seconds))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and no schedule is negative"
)]
fn to_ns(seconds: f64) -> u64 {
    (seconds * SECOND_NS).round() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALONE: Share = Share { index: 0, of: 1 };

    fn arrivals(shape: Shape, rate: f64) -> Arrivals {
        Arrivals { shape, rate }
    }

    /// Due times in seconds, at most `count`.
    fn dues(arrivals: &Arrivals, length_seconds: f64, share: Share, count: usize) -> Vec<f64> {
        let mut schedule =
            Schedule::new(arrivals, Duration::from_secs_f64(length_seconds), 7, share);
        let next = || {
            let due = schedule.next_due_ns()?;
            schedule.advance();
            Some(due as f64 / SECOND_NS)
        };
        std::iter::from_fn(next).take(count).collect()
    }

    #[test]
    fn the_first_arrival_is_due_at_once_and_the_others_in_their_distance() {
        let found = dues(&arrivals(Shape::Constant, 4.0), 1.0, ALONE, 4);
        assert_eq!(found, [0.0, 0.25, 0.5, 0.75]);
        let found = dues(&arrivals(Shape::Constant, 0.01), 1.0, ALONE, 3);
        assert_eq!(found, [0.0, 100.0, 200.0]);
    }

    /// Rates from 0.01/s up: after any number of arrivals the due time is the number over the
    /// rate, to the nanosecond that a float of that size can tell.
    #[test]
    fn a_constant_schedule_never_drifts() {
        for rate in [0.01, 0.3, 7.0, 998.7, 50_000.0, 3_333_333.3] {
            let mut schedule =
                Schedule::new(&arrivals(Shape::Constant, rate), Duration::MAX, 1, ALONE);
            for _ in 0..1_000_000 {
                schedule.advance();
            }
            let due = schedule.next_due_ns().unwrap() as f64;
            let exact = 1e6 / rate * SECOND_NS;
            assert!((due - exact).abs() <= exact * 1e-15 + 1.0, "{rate}: {due} {exact}");
        }
    }

    #[test]
    fn poisson_arrivals_keep_their_rate_and_spread() {
        let found = dues(&arrivals(Shape::Poisson, 1_000.0), 1.0, ALONE, 100_001);
        let gaps: Vec<f64> = found.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // Of 100,000 exponential gaps the mean is within 1 % but once in a thousand seeds.
        assert!((mean * 1_000.0 - 1.0).abs() < 0.01, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.03, "{variance}");
    }

    #[test]
    fn a_ramp_brings_its_mean_rate_and_ends() {
        for (from, to) in [(100.0, 300.0), (300.0, 100.0), (200.0, 200.0), (0.001, 400.0)] {
            let ramp = arrivals(Shape::Ramp { from, to }, f64::midpoint(from, to));
            let found = dues(&ramp, 10.0, ALONE, 100_000);
            assert!(found.len().abs_diff(2_000) <= 1, "{from}..{to}: {}", found.len());
            let early = found.iter().filter(|due| **due < 5.0).count() as f64;
            let expected = 5.0 * from + (to - from) * 1.25;
            assert!((early - expected).abs() <= 1.0, "{from}..{to}: {early} {expected}");
        }
    }

    proptest! {
        /// However many threads share a schedule, together they are the schedule of one.
        #[test]
        fn shares_make_up_the_whole(of in 1..9_u32, rate in 0.01..1e6_f64, ramp in any::<bool>()) {
            let shape = if ramp { Shape::Ramp { from: rate / 2.0, to: rate * 1.5 } } else { Shape::Constant };
            let arrivals = arrivals(shape, rate);
            let length = 500.0 / rate;
            let whole = dues(&arrivals, length, ALONE, 400);
            let mut parts: Vec<f64> = (0..of)
                .flat_map(|index| dues(&arrivals, length, Share { index, of }, 400))
                .collect();
            parts.sort_by(f64::total_cmp);
            parts.truncate(400);
            prop_assert_eq!(parts, whole);
        }

        /// Due times never go back.
        #[test]
        fn due_times_are_in_order(rate in 0.01..1e6_f64, kind in 0..3) {
            let shape = match kind {
                0 => Shape::Constant,
                1 => Shape::Poisson,
                _ => Shape::Ramp { from: rate, to: rate / 10.0 },
            };
            let found = dues(&arrivals(shape, rate), 100.0, ALONE, 500);
            prop_assert!(found.windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }
}
