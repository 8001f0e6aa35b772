//! A distribution of times in a few numbers.

use serde::{Deserialize, Serialize};

/// A distribution of times, in whole nanoseconds.
///
/// A percentile with fewer than ten samples beyond it is `null`: it would be an outlier, not
/// a percentile. `min`, `max` and `mean` are exact, percentiles within 0.1 %.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// Samples.
    pub count: u64,
    /// Shortest; `null` without samples.
    pub min: Option<u64>,
    /// Arithmetic mean; `null` without samples.
    pub mean: Option<f64>,
    /// Half of the samples are at most this.
    pub p50: Option<u64>,
    /// 90 % of the samples are at most this.
    pub p90: Option<u64>,
    /// 99 % of the samples are at most this.
    pub p99: Option<u64>,
    /// 99.9 % of the samples are at most this.
    pub p999: Option<u64>,
    /// Longest; `null` without samples.
    pub max: Option<u64>,
}
