//! Values with their unit, as people write them and as runs measure them.

use std::fmt;

/// Units of time with their nanoseconds, shortest first.
const UNITS: [(&str, f64); 6] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9)];

/// Units that are printed: each exists on every keyboard and divides into whole decimals.
const PRINTED_UNITS: [(&str, f64, usize); 4] =
    [("s", 1e9, 9), ("ms", 1e6, 6), ("us", 1e3, 3), ("ns", 1.0, 0)];

/// A value with its unit. `Display` writes it so that it can be read again; with a precision,
/// such as `{:.2}`, it has that many decimals.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Quantity {
    /// A time, in nanoseconds.
    Ns(f64),
    /// Verified replies a second.
    PerSecond(f64),
    /// A number of things.
    Count(f64),
    /// A share, 0 to 100.
    Percent(f64),
}

impl Quantity {
    /// Reads a time, which has to have a unit. It is rounded to whole nanoseconds.
    pub(super) fn parse_time(text: &str) -> Option<Self> {
        let number_bytes = text.find(|c: char| !is_of_number(c))?;
        let (number, unit) = text.split_at(number_bytes);
        let (_, ns) = UNITS.into_iter().find(|(name, _)| *name == unit.trim_start())?;
        Some(Self::Ns((parse_number(number)? * ns).round()))
    }

    /// Reads a rate, a plain number.
    pub(super) fn parse_rate(text: &str) -> Option<Self> {
        parse_number(text).map(Self::PerSecond)
    }

    /// Reads a count, a plain number.
    pub(super) fn parse_count(text: &str) -> Option<Self> {
        parse_number(text).map(Self::Count)
    }

    /// Reads a share, a number with a percent sign.
    pub(super) fn parse_percent(text: &str) -> Option<Self> {
        parse_number(text.strip_suffix('%')?.trim_end()).map(Self::Percent)
    }

    /// The number alone, in its unit.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Self::Ns(number)
            | Self::PerSecond(number)
            | Self::Count(number)
            | Self::Percent(number) => number,
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precision = f.precision();
        match *self {
            Self::Ns(ns) => f.write_str(&time(ns, precision)),
            Self::PerSecond(number) | Self::Count(number) => {
                f.write_str(&decimal(number, precision))
            }
            Self::Percent(number) => write!(f, "{}%", decimal(number, precision)),
        }
    }
}

/// Takes digits and a point, and none of the other things that a float may be: no sign, no
/// exponent, no infinity. A comma would be a thousand to some and a tenth to others.
fn parse_number(text: &str) -> Option<f64> {
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_of_number);
    if is_plain { text.parse().ok().filter(|number: &f64| number.is_finite()) } else { None }
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

fn decimal(number: f64, precision: Option<usize>) -> String {
    match precision {
        Some(decimals) => format!("{number:.decimals$}"),
        None => number.to_string(),
    }
}

/// In the longest unit that is not longer than the time.
fn time(ns: f64, precision: Option<usize>) -> String {
    let fitting = PRINTED_UNITS.into_iter().find(|(_, unit_ns, _)| ns >= *unit_ns);
    let (name, unit_ns, decimals_max) = fitting.unwrap_or(("ns", 1.0, 0));
    let number = ns / unit_ns;
    match precision {
        Some(decimals) => format!("{number:.decimals$}{name}"),
        None => format!("{}{name}", crate::digits::trimmed(number, decimals_max)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit() {
        let check = |text, ns| assert_eq!(Quantity::parse_time(text), Some(Quantity::Ns(ns)));
        check("0ns", 0.0);
        check("250ns", 250.0);
        check("10us", 10_000.0);
        check("10µs", 10_000.0);
        check("20ms", 20e6);
        check("20 ms", 20e6);
        check("1.5s", 1.5e9);
        check("2m", 120e9);
        check("0.3s", 3e8);
        check("1.5ns", 2.0);
    }

    #[test]
    fn other_texts_are_no_times() {
        let texts =
            ["", "20", "ms", "20 parsecs", "-1s", "+1s", "1e3s", "1,5s", "1.2.3s", ".5s", "infs"];
        for text in texts {
            assert_eq!(Quantity::parse_time(text), None, "{text}");
        }
        assert_eq!(Quantity::parse_time(&format!("{}s", "9".repeat(400))), None);
    }

    #[test]
    fn counts_and_shares_are_not_mistaken_for_each_other() {
        assert_eq!(Quantity::parse_count("10000"), Some(Quantity::Count(10_000.0)));
        assert_eq!(Quantity::parse_rate("0.5"), Some(Quantity::PerSecond(0.5)));
        assert_eq!(Quantity::parse_percent("1 %"), Some(Quantity::Percent(1.0)));
        for text in ["1%", "1ms", "", "1,000", "NaN"] {
            assert_eq!(Quantity::parse_count(text), None, "{text}");
        }
        for text in ["1", "%", "-1%", "1%%"] {
            assert_eq!(Quantity::parse_percent(text), None, "{text}");
        }
    }

    #[test]
    fn a_quantity_is_printed_in_the_fitting_unit() {
        let check = |quantity: Quantity, text| assert_eq!(quantity.to_string(), text);
        check(Quantity::Ns(0.0), "0ns");
        check(Quantity::Ns(999.0), "999ns");
        check(Quantity::Ns(1_500.0), "1.5us");
        check(Quantity::Ns(20e6), "20ms");
        check(Quantity::Ns(21_401_599.0), "21.401599ms");
        check(Quantity::Ns(120e9), "120s");
        check(Quantity::PerSecond(38_412.5), "38412.5");
        check(Quantity::Percent(0.25), "0.25%");
        assert_eq!(format!("{:.2}", Quantity::Ns(21_401_599.0)), "21.40ms");
        assert_eq!(format!("{:.1}", Quantity::Percent(100.0 / 3.0)), "33.3%");
    }
}
