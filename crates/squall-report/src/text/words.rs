//! Words around numbers.

use std::collections::BTreeMap;

use squall_stats::ledger::Failures;

use super::number::count;

/// A number with its noun: `1 reply`, `38,412 replies`.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Kinds with their counts, the largest first: `400 × status`, `12 × timeout`. Beyond
/// `parts_max` the rest is summed up, so that a screen stays a screen.
///
/// `status_codes` are those of all replies. Where a single code explains every failure by
/// status, it is named.
pub(crate) fn failure_kinds(
    failures: &Failures,
    status_codes: &BTreeMap<u16, u64>,
    parts_max: usize,
) -> Vec<String> {
    let code = only_bad_status(status_codes).filter(|(_, number)| *number == failures.status);
    let parts = failures.nonzero().map(|(kind, number)| match code {
        Some((code, _)) if kind == "status" => (format!("status {code}"), number),
        _ => (kind, number),
    });
    largest_first(parts.collect(), parts_max)
}

/// Counts by name, the largest first: `64 × ECONNREFUSED`. Beyond `parts_max` the rest is summed
/// up.
pub(crate) fn kinds<N: ToString>(counts: &BTreeMap<N, u64>, parts_max: usize) -> Vec<String> {
    largest_first(
        counts.iter().map(|(name, number)| (name.to_string(), *number)).collect(),
        parts_max,
    )
}

fn only_bad_status(status_codes: &BTreeMap<u16, u64>) -> Option<(u16, u64)> {
    let mut bad = status_codes.range(400..);
    let (code, number) = bad.next()?;
    bad.next().is_none().then_some((*code, *number))
}

fn largest_first(mut parts: Vec<(String, u64)>, parts_max: usize) -> Vec<String> {
    parts.retain(|(_, number)| *number > 0);
    // Stable, so equal counts keep the order of their names.
    parts.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let rest = parts.split_off(parts.len().min(parts_max));
    if !rest.is_empty() {
        let number = rest.iter().fold(0_u64, |sum, (_, number)| sum.saturating_add(*number));
        parts.push(("other".to_owned(), number));
    }
    parts.into_iter().map(|(name, number)| format!("{} × {name}", count(number))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_agree_with_their_number() {
        assert_eq!(counted(1, "reply", "replies"), "1 reply");
        assert_eq!(counted(0, "reply", "replies"), "0 replies");
        assert_eq!(counted(1000, "reply", "replies"), "1,000 replies");
    }

    #[test]
    fn a_single_bad_status_is_named() {
        let check = |codes: &[(u16, u64)], expected: &[&str]| {
            let failures = Failures { status: 400, timeout: 12, ..Failures::default() };
            let codes = codes.iter().copied().collect();
            assert_eq!(failure_kinds(&failures, &codes, 3), expected);
        };
        check(&[(200, 9000), (500, 400)], &["400 × status 500", "12 × timeout"]);
        check(&[(500, 300), (503, 100)], &["400 × status", "12 × timeout"]);
        // The redirects were refused by the user's own check, so 500 does not explain them all.
        check(&[(302, 300), (500, 100)], &["400 × status", "12 × timeout"]);
    }

    #[test]
    fn many_kinds_are_summed_up() {
        let codes: BTreeMap<u16, u64> = (200..210).map(|code| (code, 5)).collect();
        let parts = kinds(&codes, 6);
        assert_eq!(parts.len(), 7);
        assert_eq!(parts.first().map(String::as_str), Some("5 × 200"));
        assert_eq!(parts.last().map(String::as_str), Some("20 × other"));
    }
}
