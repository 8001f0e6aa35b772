//! Fractions of a distribution, and how many samples they need.

use std::fmt;

use crate::digits::{grouped, trimmed};

/// Fewest samples beyond a quantile. With fewer it would be an outlier, not a percentile.
pub const SAMPLES_BEYOND_MIN: u32 = 10;

/// Relative error of a product or quotient of a decimal fraction, which binary numbers cannot
/// hold exactly: without it p90 would need 101 samples.
const ROUNDING_MAX: f64 = 1e-9;

/// Decimals of a percentile in print, enough for one in a hundred million.
const DECIMALS_MAX: usize = 6;

/// A fraction of a distribution, between 0 and 1 and neither of them: 0.99 is p99.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Quantile(f64);

/// A fraction that is not between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is no quantile; it must lie between 0 and 1, such as 0.99 for p99")]
pub struct QuantileOutOfRange(pub f64);

/// There are fewer than [`SAMPLES_BEYOND_MIN`] samples beyond the quantile.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{quantile} needs {} samples, there are {}", grouped(*.needed), grouped(*.samples))]
pub struct TooFewSamples {
    /// What was asked for.
    pub quantile: Quantile,
    /// Samples that there are.
    pub samples: u64,
    /// Samples that it needs.
    pub needed: u64,
}

impl Quantile {
    /// Half of the samples.
    pub const P50: Self = Self(0.5);
    /// 90 % of the samples.
    pub const P90: Self = Self(0.9);
    /// 99 % of the samples.
    pub const P99: Self = Self(0.99);
    /// 99.9 % of the samples.
    pub const P999: Self = Self(0.999);

    /// The quantile at `fraction`.
    ///
    /// # Errors
    /// [`QuantileOutOfRange`] unless `fraction` lies between 0 and 1.
    pub fn new(fraction: f64) -> Result<Self, QuantileOutOfRange> {
        if fraction > 0.0 && fraction < 1.0 {
            Ok(Self(fraction))
        } else {
            Err(QuantileOutOfRange(fraction))
        }
    }

    /// The fraction.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// Fewest samples with [`SAMPLES_BEYOND_MIN`] of them beyond this quantile.
    #[must_use]
    pub fn samples_needed(self) -> u64 {
        whole_above(f64::from(SAMPLES_BEYOND_MIN) / (1.0 - self.0))
    }

    /// Says whether `samples` are enough for this quantile.
    ///
    /// # Errors
    /// [`TooFewSamples`] if they are not.
    pub fn check(self, samples: u64) -> Result<(), TooFewSamples> {
        let needed = self.samples_needed();
        if samples < needed {
            return Err(TooFewSamples { quantile: self, samples, needed });
        }
        Ok(())
    }

    /// Which of `samples` in ascending order is the one at this quantile, counted from 1.
    pub(super) fn rank(self, samples: u64) -> u64 {
        whole_above(self.0 * samples as f64).clamp(1, samples.max(1))
    }
}

/// As people write it: `p99.9`.
impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", trimmed(self.0 * 100.0, DECIMALS_MAX))
    }
}

/// The smallest whole number that is not below `number`, but for the error of its arithmetic.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive whole number, and one beyond u64 becomes the largest"
)]
fn whole_above(number: f64) -> u64 {
    (number * (1.0 - ROUNDING_MAX)).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_samples_have_to_lie_beyond_a_percentile() {
        let check = |quantile: Quantile, needed| assert_eq!(quantile.samples_needed(), needed);
        check(Quantile::P50, 20);
        check(Quantile::P90, 100);
        check(Quantile::P99, 1_000);
        check(Quantile::P999, 10_000);
        check(Quantile::new(0.9999).unwrap(), 100_000);
        check(Quantile::new(0.001).unwrap(), 11);
        assert_eq!(Quantile::P99.check(1_000), Ok(()));
    }

    #[test]
    fn a_refusal_names_both_numbers() {
        let refusal = Quantile::P999.check(1_234).unwrap_err();
        assert_eq!(refusal.to_string(), "p99.9 needs 10,000 samples, there are 1,234");
    }

    #[test]
    fn the_rank_is_not_shifted_by_binary_fractions() {
        let check = |fraction, samples, rank| {
            assert_eq!(Quantile::new(fraction).unwrap().rank(samples), rank, "{fraction}");
        };
        check(0.5, 1, 1);
        check(0.5, 20, 10);
        check(0.5, 21, 11);
        check(0.07, 100, 7);
        check(0.9, 110, 99);
        check(0.99, 1_000, 990);
        check(0.999, 10_000, 9_990);
        check(0.999_999, 100, 100);
        check(0.5, 0, 1);
    }

    #[test]
    fn a_quantile_is_printed_as_people_write_it() {
        let check = |fraction, text| {
            assert_eq!(Quantile::new(fraction).unwrap().to_string(), text);
        };
        check(0.5, "p50");
        check(0.07, "p7");
        check(0.99, "p99");
        check(0.999, "p99.9");
        check(0.9999, "p99.99");
    }

    #[test]
    fn a_quantile_lies_between_0_and_1() {
        for fraction in [0.0, 1.0, -0.5, 99.0, f64::INFINITY, f64::NAN] {
            assert!(Quantile::new(fraction).is_err(), "{fraction}");
        }
        let error = Quantile::new(99.0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "99 is no quantile; it must lie between 0 and 1, such as 0.99 for p99"
        );
    }
}
