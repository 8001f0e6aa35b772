//! Distributions of times, and percentiles that are worth the name.
//!
//! Owns the buckets, the exact numbers beside them, and the rule of how many samples a
//! percentile needs. Does not own a clock: a time comes in as whole nanoseconds.
//! Invariant: merging histograms loses nothing, so a percentile of the whole is taken from the
//! merged one.
//! Limit: a histogram takes about 270 KiB, however many samples it holds. Start at
//! [`LatencyHistogram`].

mod latency;

mod quantile;

pub use latency::{LatencyHistogram, TRACKED_NS_MAX};
pub use quantile::{Quantile, QuantileOutOfRange, SAMPLES_BEYOND_MIN, TooFewSamples};
