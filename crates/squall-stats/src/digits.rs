//! Numbers in the sentences of errors.

/// A whole number with a comma between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number rounded to `decimals_max` decimals, without zeros at their end.
pub(crate) fn trimmed(number: f64, decimals_max: usize) -> String {
    let text = format!("{number:.decimals_max$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let check = |number, text| assert_eq!(grouped(number), text);
        check(0, "0");
        check(999, "999");
        check(1_000, "1,000");
        check(123_456, "123,456");
        check(u64::MAX, "18,446,744,073,709,551,615");
    }

    #[test]
    fn zeros_are_trimmed_behind_the_point_only() {
        let check = |number, decimals_max, text| assert_eq!(trimmed(number, decimals_max), text);
        check(100.0, 0, "100");
        check(100.0, 6, "100");
        check(99.9, 6, "99.9");
        check(0.000_1, 2, "0");
        check(7.000_000_000_000_001, 6, "7");
    }
}
