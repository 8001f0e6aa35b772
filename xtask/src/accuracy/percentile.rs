//! Exact percentiles, from all samples.

/// The three that are compared, as numerators over a thousand.
pub(super) const PERMILLES: [(u64, &str); 3] = [(500, "p50"), (990, "p99"), (999, "p999")];

/// The smallest sample that `permille` of all are at most as large as; `None` if fewer than
/// ten lie beyond it, which the generator does not tell either.
pub(super) fn exact(sorted: &[u64], permille: u64) -> Option<u64> {
    let count = sorted.len() as u64;
    if count * (1_000 - permille) < 10 * 1_000 {
        return None;
    }
    let rank = (count * permille).div_ceil(1_000).max(1);
    sorted.get(usize::try_from(rank - 1).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples_and_need_ten_beyond() {
        let samples: Vec<u64> = (1..=1_000).collect();
        assert_eq!(exact(&samples, 500), Some(500));
        assert_eq!(exact(&samples, 990), Some(990));
        assert_eq!(exact(&samples, 999), None);
        assert_eq!(exact(&samples[..19], 500), None);
        assert_eq!(exact(&[], 500), None);
    }
}
