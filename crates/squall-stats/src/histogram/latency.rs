//! A histogram of times, with exact numbers beside its buckets.

use std::fmt;

use hdrhistogram::Histogram;

use super::quantile::{Quantile, TooFewSamples};
use crate::record::LatencySummary;

/// Longest time that buckets tell from longer ones: one hour.
pub const TRACKED_NS_MAX: u64 = 3_600_000_000_000;

/// Shortest time that buckets tell from zero.
const TRACKED_NS_MIN: u64 = 1;

/// Precision of the buckets: no bucket is wider than 1/1,024 of the values in it.
const SIGNIFICANT_DIGITS: u8 = 3;

/// A distribution of times, in whole nanoseconds.
///
/// `min`, `max` and `mean` are exact. Percentiles are within 0.1 % up to [`TRACKED_NS_MAX`];
/// a longer time counts as that long in percentiles, and never lies above the exact maximum.
///
/// ```
/// use squall_stats::histogram::{LatencyHistogram, Quantile};
///
/// let mut histogram = LatencyHistogram::new();
/// (1..=1_000).for_each(|microseconds| histogram.record(microseconds * 1_000));
/// assert_eq!(histogram.max(), Some(1_000_000));
/// assert!(histogram.value_at(Quantile::P99)?.abs_diff(990_000) < 990);
/// assert!(histogram.value_at(Quantile::P999).is_err());
/// # Ok::<(), squall_stats::histogram::TooFewSamples>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct LatencyHistogram {
    buckets: Histogram<u64>,
    sum: u128,
    /// `u64::MAX` without samples.
    min: u64,
    /// Zero without samples.
    max: u64,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

/// The numbers, since thousands of buckets tell a reader nothing.
impl fmt::Debug for LatencyHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LatencyHistogram").field(&self.summary()).finish()
    }
}

impl LatencyHistogram {
    /// A histogram without samples.
    #[must_use]
    pub fn new() -> Self {
        let buckets =
            Histogram::new_with_bounds(TRACKED_NS_MIN, TRACKED_NS_MAX, SIGNIFICANT_DIGITS)
                .expect("the bounds are constants that hdrhistogram accepts");
        Self { buckets, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Adds one time, in nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        // Cut off here: the last bucket reaches beyond the hour, and a longer time would be put
        // below times that still fit.
        self.buckets.saturating_record(ns.min(TRACKED_NS_MAX));
        self.sum += u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    /// Adds all samples of another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.buckets.add(&other.buckets).expect("all histograms have the same bounds");
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// What was recorded after `earlier`, a former state of this histogram.
    ///
    /// Count and mean are exact. `min` and `max` are the borders of their buckets, hence within
    /// 0.1 %, because the exact ones may have been recorded before. If `earlier` is not a former
    /// state, samples that only it has are ignored.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut later = Self::new();
        for bucket in self.buckets.iter_recorded() {
            let ns = bucket.value_iterated_to();
            let added = bucket.count_at_value().saturating_sub(earlier.buckets.count_at(ns));
            if added > 0 {
                later.buckets.saturating_record_n(ns, added);
            }
        }
        if !later.is_empty() {
            later.sum = self.sum.saturating_sub(earlier.sum);
            later.min = later.buckets.min().max(self.min);
            let top = later.buckets.max();
            later.max = if top < TRACKED_NS_MAX { top.min(self.max) } else { self.max };
        }
        later
    }

    /// Samples.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.buckets.len()
    }

    /// Whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// The shortest time, in nanoseconds; `None` without samples.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min)
    }

    /// The longest time, in nanoseconds; `None` without samples.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max)
    }

    /// The arithmetic mean, in nanoseconds; `None` without samples.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.len() as f64)
    }

    /// The time that a fraction of the samples does not exceed, in nanoseconds.
    ///
    /// It is the upper border of the bucket in which that sample lies: never shorter than the
    /// sample, nor longer by more than 0.1 %, nor longer than the maximum.
    ///
    /// # Errors
    /// [`TooFewSamples`] if fewer than ten samples lie beyond it; without samples, always.
    pub fn value_at(&self, quantile: Quantile) -> Result<u64, TooFewSamples> {
        let samples = self.len();
        quantile.check(samples)?;
        // Half a sample below its rank, so that rounding does not reach the next one.
        let fraction = (quantile.rank(samples) as f64 - 0.5) / samples as f64;
        Ok(self.buckets.value_at_quantile(fraction).clamp(self.min, self.max))
    }

    /// The distribution in a few numbers.
    #[must_use]
    pub fn summary(&self) -> LatencySummary {
        LatencySummary {
            count: self.len(),
            min: self.min(),
            mean: self.mean(),
            p50: self.value_at(Quantile::P50).ok(),
            p90: self.value_at(Quantile::P90).ok(),
            p99: self.value_at(Quantile::P99).ok(),
            p999: self.value_at(Quantile::P999).ok(),
            max: self.max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(times: impl IntoIterator<Item = u64>) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        times.into_iter().for_each(|ns| histogram.record(ns));
        histogram
    }

    #[test]
    fn an_empty_histogram_has_no_numbers() {
        let empty = LatencyHistogram::new();
        assert_eq!(empty.summary(), LatencySummary::default());
        assert!(empty.is_empty());
        assert_eq!(empty.value_at(Quantile::P50).unwrap_err().samples, 0);
        assert_eq!(empty.since(&empty), empty);
    }

    #[test]
    fn zero_is_a_time() {
        let zeros = histogram([0; 20]);
        assert_eq!((zeros.len(), zeros.min(), zeros.max()), (20, Some(0), Some(0)));
        assert_eq!(zeros.mean(), Some(0.0));
        assert_eq!(zeros.value_at(Quantile::P50), Ok(0));
    }

    #[test]
    fn small_times_are_exact() {
        let times = histogram(1..=1_000);
        let check = |quantile, ns| assert_eq!(times.value_at(quantile), Ok(ns));
        check(Quantile::P50, 500);
        check(Quantile::P90, 900);
        check(Quantile::P99, 990);
        assert_eq!(times.mean(), Some(500.5));
        assert_eq!(times.summary().p999, None);
    }

    #[test]
    fn times_beyond_the_buckets_keep_their_exact_numbers() {
        let hour = TRACKED_NS_MAX;
        let long = histogram((0..20).map(|_| u64::MAX));
        assert_eq!((long.min(), long.max()), (Some(u64::MAX), Some(u64::MAX)));
        assert_eq!(long.mean(), Some(u64::MAX as f64));
        assert_eq!(long.value_at(Quantile::P50), Ok(u64::MAX));

        let mixed = histogram((0..20).map(|n| if n < 10 { 1_000 } else { hour * 2 }));
        assert_eq!(mixed.value_at(Quantile::P50), Ok(1_000));
        assert_eq!(mixed.max(), Some(hour * 2));
        let later = mixed.since(&histogram([1_000; 10]));
        assert_eq!((later.len(), later.max()), (10, Some(hour * 2)));
        assert_eq!(later.mean(), Some((hour * 2) as f64));
    }

    #[test]
    fn a_longer_time_is_never_below_a_shorter_one() {
        let hour = TRACKED_NS_MAX;
        let times = histogram((0..2_000).map(|n| if n % 2 == 0 { hour - 1 } else { hour * 3 }));
        assert!(times.value_at(Quantile::P99).unwrap() >= times.value_at(Quantile::P50).unwrap());
        assert!(times.value_at(Quantile::P50).unwrap() >= hour - 1);
    }

    #[test]
    fn no_percentile_exceeds_the_maximum() {
        // The bucket of this time reaches up to 1,000,447.
        let times = histogram([1_000_000; 1_000]);
        assert_eq!(times.value_at(Quantile::P99), Ok(1_000_000));
    }

    #[test]
    fn a_state_that_was_no_former_one_takes_nothing_below_zero() {
        let later = histogram([5, 7]).since(&histogram([7, 7, 9]));
        assert_eq!((later.len(), later.min(), later.max()), (1, Some(5), Some(5)));
    }

    #[test]
    fn debug_is_short() {
        assert!(format!("{:?}", histogram(1..100)).len() < 200);
    }
}
