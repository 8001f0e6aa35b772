//! Laws of histograms.

use proptest::collection::vec;
use proptest::prelude::*;
use squall_stats::histogram::{LatencyHistogram, Quantile, TRACKED_NS_MAX};

/// Times of every magnitude alike, zero and beyond the hour included.
fn any_time() -> impl Strategy<Value = u64> {
    (0..=44_u32, any::<u64>()).prop_map(|(bits, random)| random & ((1 << bits) - 1))
}

fn tracked_time() -> impl Strategy<Value = u64> {
    any_time().prop_map(|ns| ns.min(TRACKED_NS_MAX))
}

fn histogram(times: &[u64]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    times.iter().for_each(|ns| histogram.record(*ns));
    histogram
}

/// No bucket is wider than this part of the times in it.
fn is_within_bucket(value: u64, exact: u64) -> bool {
    exact <= value && value - exact <= exact / 1_000
}

proptest! {
    /// Count, minimum, maximum and mean are those of the times, not of buckets.
    #[test]
    fn numbers_beside_the_buckets_are_exact(times in vec(any_time(), 1..200)) {
        let histogram = histogram(&times);
        let sum: u128 = times.iter().copied().map(u128::from).sum();
        prop_assert_eq!(histogram.len(), times.len() as u64);
        prop_assert_eq!(histogram.min(), times.iter().min().copied());
        prop_assert_eq!(histogram.max(), times.iter().max().copied());
        prop_assert_eq!(histogram.mean(), Some(sum as f64 / times.len() as f64));
    }

    /// Merging histograms is recording everything in one.
    #[test]
    fn merged_histograms_are_the_histogram_of_all(
        left in vec(any_time(), 0..200),
        right in vec(any_time(), 0..200),
    ) {
        let mut merged = histogram(&left);
        merged.merge(&histogram(&right));
        prop_assert_eq!(merged, histogram(&[left, right].concat()));
    }

    /// A percentile is the order statistic, or longer than it by at most 0.1 %.
    #[test]
    fn a_percentile_is_within_a_thousandth_of_the_sample(times in vec(tracked_time(), 1_000..1_200)) {
        let histogram = histogram(&times);
        let mut ordered = times;
        ordered.sort_unstable();
        for (quantile, percent) in [(Quantile::P50, 50), (Quantile::P90, 90), (Quantile::P99, 99)] {
            let rank = (ordered.len() * percent).div_ceil(100);
            let exact = ordered[rank - 1];
            let value = histogram.value_at(quantile).unwrap();
            prop_assert!(is_within_bucket(value, exact), "{quantile}: {value} for {exact}");
        }
    }

    /// Percentiles of any times ascend, and stay between minimum and maximum.
    #[test]
    fn percentiles_ascend(times in vec(any_time(), 1_000..1_200)) {
        let summary = histogram(&times).summary();
        let ascending = [summary.min, summary.p50, summary.p90, summary.p99, summary.max];
        prop_assert!(ascending.is_sorted(), "{ascending:?}");
        prop_assert!(ascending.iter().all(Option::is_some));
    }

    /// There is a percentile exactly when ten samples lie beyond it.
    #[test]
    fn a_percentile_needs_ten_samples_beyond_it(samples in 0..200_usize, percent in 1..100_u32) {
        let quantile = Quantile::new(f64::from(percent) / 100.0).unwrap();
        let is_enough = samples as u64 * u64::from(100 - percent) >= 1_000;
        prop_assert_eq!(histogram(&vec![7; samples]).value_at(quantile).is_ok(), is_enough);
    }

    /// What came later and what came earlier are together everything.
    #[test]
    fn since_is_the_difference(
        before in vec(any_time(), 0..200),
        after in vec(any_time(), 0..200),
    ) {
        let earlier = histogram(&before);
        let mut now = earlier.clone();
        after.iter().for_each(|ns| now.record(*ns));
        let later = now.since(&earlier);
        prop_assert_eq!(later.len() + earlier.len(), now.len());
        prop_assert_eq!(later.mean(), histogram(&after).mean());

        let mut together = earlier;
        together.merge(&later);
        prop_assert_eq!(together.summary().p90, now.summary().p90);
    }

    /// The extremes of a difference are those of its buckets.
    #[test]
    fn extremes_of_a_difference_are_near(
        before in vec(tracked_time(), 0..50),
        after in vec(tracked_time(), 1..50),
    ) {
        let earlier = histogram(&before);
        let mut now = earlier.clone();
        after.iter().for_each(|ns| now.record(*ns));
        let later = now.since(&earlier);
        let (min, max) = (later.min().unwrap(), later.max().unwrap());
        let (exact_min, exact_max) = (*after.iter().min().unwrap(), *after.iter().max().unwrap());
        prop_assert!(is_within_bucket(max, exact_max), "{max} for {exact_max}");
        prop_assert!(min <= exact_min && exact_min - min <= exact_min / 1_000, "{min} for {exact_min}");
    }
}
