//! The tables that are printed.

/// Difference that is still right: this share, or this many nanoseconds.
const SHARE_MAX: f64 = 0.02;
const NS_MAX: f64 = 50_000.0;

/// One percentile, as both sides saw it.
pub(super) struct Row {
    pub(super) case: String,
    pub(super) load: &'static str,
    pub(super) percentile: &'static str,
    pub(super) server_ns: Option<u64>,
    pub(super) squall_ns: Option<u64>,
}

/// The line of a row.
pub(super) fn line(row: &Row) -> String {
    let start = format!("{:<24}{:<11}{:<6}", row.case, row.load, row.percentile);
    let (Some(server), Some(squall)) = (row.server_ns, row.squall_ns) else {
        return format!("{start}{:>12}{:>12}  too few samples", "n/a", "n/a");
    };
    let difference = squall as f64 - server as f64;
    let share = difference / server as f64;
    let is_right = difference.abs() <= NS_MAX || share.abs() <= SHARE_MAX;
    format!(
        "{start}{:>12.1}{:>12.1}{:>+10.1}{:>+8.2} %  {}",
        server as f64 / 1e3,
        squall as f64 / 1e3,
        difference / 1e3,
        share * 100.0,
        if is_right { "ok" } else { "off" }
    )
}

/// The names of the columns.
pub(super) fn header() -> String {
    format!(
        "{:<24}{:<11}{:<6}{:>12}{:>12}{:>10}{:>8}",
        "service time", "load", "", "server us", "squall us", "diff us", "diff"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(server_ns: Option<u64>, squall_ns: Option<u64>, expected: &str) {
        let case = "1 ms".to_owned();
        let row = Row { case, load: "plain", percentile: "p50", server_ns, squall_ns };
        assert!(line(&row).ends_with(expected), "{}", line(&row));
    }

    #[test]
    fn a_row_is_right_within_a_share_or_some_microseconds() {
        check(Some(1_000_000), Some(1_049_000), "+49.0   +4.90 %  ok");
        check(Some(1_000_000), Some(1_051_000), "+51.0   +5.10 %  off");
        check(Some(10_000_000), Some(9_810_000), "-190.0   -1.90 %  ok");
        check(None, None, "too few samples");
    }
}
