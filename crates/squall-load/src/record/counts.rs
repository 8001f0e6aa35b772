//! Sums over requests.

use squall_stats::ledger::Failures;
use squall_stats::record::BodyRecord;

/// Sums over the requests of one phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: u64,
    pub(crate) ok: u64,
    pub(crate) failed: u64,
    pub(crate) unanswered: u64,
    pub(crate) failures: Failures,
}

impl Counts {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.ok += other.ok;
        self.failed += other.failed;
        self.unanswered += other.unanswered;
        self.failures.merge(&other.failures);
    }
}

/// Lengths of bodies.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Sizes {
    pub(crate) fn record(&mut self, bytes: u64) {
        self.min = if self.count == 0 { bytes } else { self.min.min(bytes) };
        self.max = self.max.max(bytes);
        self.count += 1;
        self.sum += u128::from(bytes);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
    }

    pub(crate) fn record_of(&self) -> Option<BodyRecord> {
        (self.count > 0).then(|| BodyRecord {
            bytes_min: self.min,
            bytes_max: self.max,
            bytes_mean: self.sum as f64 / self.count as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_sizes_are_the_sizes_of_the_merged() {
        let (mut left, mut right, mut both) = Default::default();
        for bytes in [7, 3] {
            Sizes::record(&mut left, bytes);
            Sizes::record(&mut both, bytes);
        }
        for bytes in [0, 10] {
            Sizes::record(&mut right, bytes);
            Sizes::record(&mut both, bytes);
        }
        left.merge(&right);
        left.merge(&Sizes::default());
        assert_eq!(left.record_of(), both.record_of());
        let record = both.record_of().unwrap();
        assert_eq!((record.bytes_min, record.bytes_max, record.bytes_mean), (0, 10, 5.0));
        assert_eq!(Sizes::default().record_of(), None);
    }
}
