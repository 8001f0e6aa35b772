//! Numbers as people read them: thousands separated, three digits of a measurement.

/// Units of time, each with its nanoseconds.
const TIME_UNITS: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

/// Units of size, each with its bytes.
const BYTE_UNITS: [(&str, f64); 4] = [
    ("KiB", 1024.0),
    ("MiB", 1024.0 * 1024.0),
    ("GiB", 1024.0 * 1024.0 * 1024.0),
    ("TiB", 1024.0 * 1024.0 * 1024.0 * 1024.0),
];

/// From here on a number rounds to four digits, and the next unit takes over.
const THREE_DIGITS_END: f64 = 999.5;

/// A whole number, such as `38,412`.
pub(crate) fn count(number: u64) -> String {
    grouped(&number.to_string())
}

/// Whole nanoseconds in a fitting unit, such as `412 ns` or `4.10 ms`.
pub(crate) fn time(nanoseconds: u64) -> String {
    // Below a microsecond the number is exact, and a fraction would claim what was not measured.
    if nanoseconds < 1000 { format!("{nanoseconds} ns") } else { time_ns(nanoseconds as f64) }
}

/// Nanoseconds with three significant digits in a fitting unit, such as `87.3 µs`.
pub(crate) fn time_ns(nanoseconds: f64) -> String {
    in_unit(nanoseconds, &TIME_UNITS)
}

/// Seconds, as long as a window is: `10.0 s`.
pub(crate) fn seconds(seconds: f64) -> String {
    format!("{} s", grouped(&format!("{seconds:.1}")))
}

/// A size, such as `412 B` or `12.3 MiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    if bytes < 1000 { format!("{bytes} B") } else { in_unit(bytes as f64, &BYTE_UNITS) }
}

/// A rate without its `/s`: `38,412`, `998.7`, `2.50`. A fraction of zero is left away.
pub(crate) fn per_second(rate: f64) -> String {
    let text = match rate {
        rate if rate < 9.995 => format!("{rate:.2}"),
        rate if rate < 999.95 => format!("{rate:.1}"),
        rate => format!("{rate:.0}"),
    };
    let trimmed = text.strip_suffix(".00").or_else(|| text.strip_suffix(".0")).unwrap_or(&text);
    grouped(trimmed)
}

/// A share of one, such as `43 %` or `4.3 %`.
pub(crate) fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

fn in_unit(value: f64, units: &[(&str, f64)]) -> String {
    let fitting = units.iter().find(|(_, size)| value / size < THREE_DIGITS_END);
    let Some((unit, size)) = fitting.or(units.last()) else { return value.to_string() };
    format!("{} {unit}", three_digits(value / size))
}

fn three_digits(value: f64) -> String {
    match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => grouped(&format!("{value:.0}")),
    }
}

/// Puts a comma before each group of three digits of the whole part.
fn grouped(digits: &str) -> String {
    let whole_len = digits.find('.').unwrap_or(digits.len());
    let (whole, fraction) = digits.split_at(whole_len);
    let mut text = String::with_capacity(digits.len() + whole.len() / 3);
    for (index, digit) in whole.char_indices() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts_have_thousands_separators() {
        let check = |number: u64, expected: &str| assert_eq!(count(number), expected);
        check(0, "0");
        check(999, "999");
        check(1000, "1,000");
        check(38_412, "38,412");
        check(1_000_000, "1,000,000");
        check(u64::MAX, "18,446,744,073,709,551,615");
    }

    #[test]
    fn times_have_three_digits_and_a_fitting_unit() {
        let check = |nanoseconds: u64, expected: &str| assert_eq!(time(nanoseconds), expected);
        check(0, "0 ns");
        check(7, "7 ns");
        check(412, "412 ns");
        check(1000, "1.00 µs");
        check(87_345, "87.3 µs");
        check(999_499, "999 µs");
        check(999_500, "1.00 ms");
        check(4_100_000, "4.10 ms");
        check(9_994_999, "9.99 ms");
        check(9_995_000, "10.0 ms");
        check(2_000_000_000, "2.00 s");
        check(3_600_000_000_000, "3,600 s");
        assert_eq!(time_ns(21.34), "21.3 ns");
    }

    #[test]
    fn rates_drop_a_fraction_that_says_nothing() {
        let check = |rate: f64, expected: &str| assert_eq!(per_second(rate), expected);
        check(0.0, "0");
        check(2.5, "2.50");
        check(64.0, "64");
        check(998.68, "998.7");
        check(999.96, "1,000");
        check(38_411.7, "38,412");
    }

    #[test]
    fn sizes_and_shares_have_their_unit() {
        assert_eq!(bytes(412), "412 B");
        assert_eq!(bytes(1023), "1.00 KiB");
        assert_eq!(bytes(12_900_000), "12.3 MiB");
        assert_eq!(bytes(5000 << 40), "5,000 TiB");
        assert_eq!(percent(0.43), "43 %");
        assert_eq!(percent(0.0431), "4.3 %");
        assert_eq!(percent(0.9999), "100 %");
        assert_eq!(seconds(3600.0), "3,600.0 s");
    }

    proptest! {
        /// A printed time, read back with its unit, is within half a percent of what it was.
        #[test]
        fn a_printed_time_is_right_to_half_a_percent(nanoseconds in 1..=1_000_000_000_000_000_u64) {
            let text = time(nanoseconds).replace(',', "");
            let (number, unit) = text.split_once(' ').unwrap();
            let (_, size) = TIME_UNITS.iter().find(|(name, _)| *name == unit).unwrap();
            let read = number.parse::<f64>().unwrap() * size;
            let error = (read - nanoseconds as f64).abs() / nanoseconds as f64;
            prop_assert!(error <= 0.005, "{nanoseconds} ns printed as {text}");
        }
    }
}
