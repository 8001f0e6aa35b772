//! Numbers in a fixed number of digits, so that writing one never moves what is behind it.

/// Most digits of a decimal number of 64 bits.
pub(crate) const DECIMAL_DIGITS_MAX: usize = 20;

/// Fills `out` with the last digits of `value`, padded with zeros in front.
pub(crate) fn write_decimal(out: &mut [u8], mut value: u64) {
    for digit in out.iter_mut().rev() {
        *digit = b'0' + u8::try_from(value % 10).unwrap_or_default();
        value /= 10;
    }
}

/// Fills `out` with the last hexadecimal digits of `value`, in lower case.
pub(crate) fn write_hex(out: &mut [u8], mut value: u64) {
    for digit in out.iter_mut().rev() {
        let nibble = u8::try_from(value % 16).unwrap_or_default();
        *digit = if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
        value /= 16;
    }
}

/// Reads decimal digits and nothing else; none are no number, and too many are none either.
pub(crate) fn read_decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |sum, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

/// Reads hexadecimal digits in lower case and nothing else, as [`write_hex`] writes them.
pub(crate) fn read_hex(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |sum, byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        sum.checked_mul(16)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_number_keeps_its_width() {
        let check = |value, expected: &str| {
            let mut out = vec![b'x'; expected.len()];
            write_decimal(&mut out, value);
            assert_eq!(out, expected.as_bytes());
        };
        check(0, "0");
        check(42, "0042");
        check(1234, "34");
        check(u64::MAX, "18446744073709551615");
        check(7, "");
    }

    #[test]
    fn only_digits_are_a_number() {
        let check = |text: &str, expected| assert_eq!(read_decimal(text.as_bytes()), expected);
        check("0", Some(0));
        check("0012", Some(12));
        check("18446744073709551615", Some(u64::MAX));
        check("18446744073709551616", None);
        check("", None);
        check("+1", None);
        check("1 ", None);
        check("1e3", None);
    }

    #[test]
    fn hexadecimal_comes_back() {
        let check = |value| {
            let mut out = [0; 16];
            write_hex(&mut out, value);
            assert_eq!(read_hex(&out), Some(value));
        };
        check(0);
        check(0xdead_beef);
        check(u64::MAX);
        assert_eq!(read_hex(b"1g"), None);
        assert_eq!(read_hex(b"AB"), None);
        assert_eq!(read_hex(b"10000000000000000"), None);
        assert_eq!(read_hex(b""), None);
    }
}
