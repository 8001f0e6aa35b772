//! A line of text that tells who sent a payload, as which, and when.
//!
//! A load generator posts it and looks for it in what followers get, so it survives whatever a
//! server does around it: envelopes, quotes, escapes. It holds only letters, digits, `-`, spaces
//! and dots, which no text format has to escape.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::digits::{DECIMAL_DIGITS_MAX, read_decimal, read_hex, write_decimal, write_hex};

/// What every stamp begins with.
const PREFIX: &[u8] = b"squall-stamp ";

/// Width of the publisher, in hexadecimal digits.
const PUBLISHER_DIGITS: usize = 16;
/// Width of the sequence, in decimal digits.
const SEQUENCE_DIGITS: usize = 12;
/// Width of the time, in decimal digits.
const TIME_DIGITS: usize = 20;

/// Longest name of a publisher.
const WORD_BYTES_MAX: usize = 64;

/// Set in the numbers of publishers of other programs.
const FOREIGN: u64 = 1 << 63;

/// Bytes of a stamp without padding, the fewest that hold one.
pub const STAMP_BYTES_MIN: usize =
    PREFIX.len() + PUBLISHER_DIGITS + 1 + SEQUENCE_DIGITS + 1 + TIME_DIGITS;

/// Building a searcher costs more than searching a short payload.
static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(PREFIX));

/// Who sent a payload, as which of theirs, and when.
///
/// ```
/// use squall_wire::stamp::Stamp;
///
/// let stamp = Stamp { publisher: 0x2a, sequence: 7, time_ns: 1_500 };
/// let mut text = [0; 66];
/// stamp.write(&mut text);
/// assert_eq!(&text, b"squall-stamp 000000000000002a 000000000007 00000000000000001500 ..");
/// assert_eq!(Stamp::find(&[b"{\"text\":\"", &text[..], b"\"}"].concat()), Some(stamp));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Who sent it: any number that tells publishers apart.
    pub publisher: u64,
    /// Which of the publisher's payloads it is. Twelve digits are written: it wraps at 10^12.
    pub sequence: u64,
    /// When it was to be sent, in nanoseconds on the clock of the sender.
    pub time_ns: u64,
}

impl Stamp {
    /// Fills `out` with the stamp and padding. [`STAMP_BYTES_MIN`] bytes are needed: fewer get
    /// the beginning of a stamp, which [`find`](Self::find) does not take for one.
    pub fn write(&self, out: &mut [u8]) {
        let mut text = [b' '; STAMP_BYTES_MIN];
        let mut rest = text.as_mut_slice();
        let mut next = |width: usize| {
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(width);
            rest = behind.get_mut(1..).unwrap_or_default();
            part
        };
        // The last byte of the prefix is the space that `next` leaves between two parts.
        next(PREFIX.len() - 1).copy_from_slice(PREFIX.trim_ascii_end());
        write_hex(next(PUBLISHER_DIGITS), self.publisher);
        write_decimal(next(SEQUENCE_DIGITS), self.sequence);
        write_decimal(next(TIME_DIGITS), self.time_ns);
        let (stamp, padding) = out.split_at_mut(out.len().min(STAMP_BYTES_MIN));
        stamp.copy_from_slice(text.get(..stamp.len()).unwrap_or_default());
        padding.fill(b'.');
        if let Some(first) = padding.first_mut() {
            *first = b' ';
        }
    }

    /// The first whole stamp anywhere in `data`. A damaged one is passed over.
    #[must_use]
    pub fn find(data: &[u8]) -> Option<Self> {
        Self::find_all(data).next()
    }

    /// All whole stamps in `data`, in order: a server may put several payloads into one message.
    ///
    /// Those of other programs are found as well: their publisher may be any word of up to 64
    /// bytes, of which a hash with its highest bit set is given, and their numbers may have 1 to
    /// 20 digits. In our own form, whose publisher has exactly 16 hexadecimal digits in lower
    /// case, the widths are fixed, so that a stamp that was cut is not taken for a whole one.
    pub fn find_all(data: &[u8]) -> impl Iterator<Item = Self> + '_ {
        FINDER.find_iter(data).filter_map(|start| Self::parse(data.get(start + PREFIX.len()..)?))
    }

    /// Reads what follows the prefix.
    fn parse(text: &[u8]) -> Option<Self> {
        let (publisher, text) = split_word(text)?;
        let own = (publisher.len() == PUBLISHER_DIGITS).then(|| read_hex(publisher)).flatten();
        let Some(publisher) = own else {
            return Self::parse_foreign(publisher, text);
        };
        let (sequence, text) = text.split_at_checked(SEQUENCE_DIGITS)?;
        let (time_ns, text) = text.strip_prefix(b" ")?.split_at_checked(TIME_DIGITS)?;
        // One more digit means that one was inserted somewhere.
        if text.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        Some(Self { publisher, sequence: read_decimal(sequence)?, time_ns: read_decimal(time_ns)? })
    }

    /// Reads the numbers of a stamp that another program wrote.
    fn parse_foreign(publisher: &[u8], text: &[u8]) -> Option<Self> {
        let (sequence, text) = split_word(text)?;
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let time_ns = text.get(..digits)?;
        let widths = [publisher.len(), sequence.len(), time_ns.len()];
        if widths == [PUBLISHER_DIGITS, SEQUENCE_DIGITS, TIME_DIGITS] {
            // One of our own whose publisher was damaged.
            return None;
        }
        Some(Self {
            publisher: hash(publisher) | FOREIGN,
            sequence: read_number(sequence)?,
            time_ns: read_number(time_ns)?,
        })
    }
}

/// A number that another program wrote, in 1 to 20 digits.
fn read_number(text: &[u8]) -> Option<u64> {
    (text.len() <= DECIMAL_DIGITS_MAX).then(|| read_decimal(text)).flatten()
}

/// What stands before the first space, not empty and not too long, and what stands behind it.
fn split_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let within = text.get(..=WORD_BYTES_MAX).unwrap_or(text);
    let end = memchr::memchr(b' ', within).filter(|end| *end > 0)?;
    Some((text.get(..end)?, text.get(end + 1..)?))
}

/// A number for a word (FNV-1a, 64 bits).
fn hash(word: &[u8]) -> u64 {
    word.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { publisher: 0xfeed, sequence: 12, time_ns: 34 };

    fn text(stamp: Stamp, bytes: usize) -> String {
        let mut out = vec![b'x'; bytes];
        stamp.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn padding_is_a_space_and_dots() {
        let least = "squall-stamp 000000000000feed 000000000012 00000000000000000034";
        assert_eq!(text(STAMP, STAMP_BYTES_MIN), least);
        assert_eq!(text(STAMP, STAMP_BYTES_MIN + 1), format!("{least} "));
        assert_eq!(text(STAMP, STAMP_BYTES_MIN + 4), format!("{least} ..."));
    }

    #[test]
    fn the_widest_values_come_back() {
        let widest = Stamp { publisher: u64::MAX, sequence: 999_999_999_999, time_ns: u64::MAX };
        assert_eq!(Stamp::find(text(widest, STAMP_BYTES_MIN).as_bytes()), Some(widest));
        let wrapped = Stamp { sequence: 1_000_000_000_003, ..STAMP };
        let found = Stamp::find(text(wrapped, STAMP_BYTES_MIN).as_bytes()).unwrap();
        assert_eq!(found.sequence, 3);
    }

    #[test]
    fn a_stamp_is_found_in_whatever_a_server_puts_around_it() {
        let check = |before: &str, after: &str| {
            for bytes in [STAMP_BYTES_MIN, STAMP_BYTES_MIN + 9] {
                let data = format!("{before}{}{after}", text(STAMP, bytes));
                assert_eq!(Stamp::find(data.as_bytes()), Some(STAMP), "{data}");
            }
        };
        check("", "");
        check("{\"data\":\"", "\",\"at\":12}");
        check("{\\\"data\\\":\\\"", "\\\"}");
        check("squall-stamp ", "");
        check("squall-stamp squall-stamp squall-stamp", "\n");
        check("data: ", "\n\n");
    }

    #[test]
    fn a_damaged_stamp_is_none() {
        let whole = text(STAMP, STAMP_BYTES_MIN);
        for cut in 0..whole.len() {
            assert_eq!(Stamp::find(&whole.as_bytes()[..cut]), None);
            let mut damaged = whole.clone().into_bytes();
            damaged[cut] = b'#';
            assert_eq!(Stamp::find(&damaged), None);
        }
        assert_eq!(Stamp::find(format!("{whole}0").as_bytes()), None);
        let too_late = whole.replace("00000000000000000034", "99999999999999999999");
        assert_eq!(Stamp::find(too_late.as_bytes()), None);
    }

    #[test]
    fn too_small_a_slice_gets_a_beginning() {
        assert_eq!(text(STAMP, 8), "squall-s");
        assert_eq!(text(STAMP, 0), "");
    }

    #[test]
    fn stamps_of_other_programs_are_found_as_well() {
        let check = |text: &str, expected: Option<(u64, u64)>| {
            let found = Stamp::find(text.as_bytes());
            assert_eq!(found.map(|stamp| (stamp.sequence, stamp.time_ns)), expected, "{text}");
        };
        check("squall-stamp p1 7 1234", Some((7, 1234)));
        check("{\"d\":\"squall-stamp my-publisher 12 99 ...\"}", Some((12, 99)));
        check("squall-stamp p1 7 ", None);
        check("squall-stamp p1 x 7", None);
        check("squall-stamp  1 7", None);
        check("squall-stamp p1 7", None);
        check("squall-stamp p1 7 1234\"", Some((7, 1234)));
        // Numbers of 1 to 20 digits, and of 64 bits.
        let widest = "18446744073709551615";
        check(&format!("squall-stamp p1 {widest} {widest}"), Some((u64::MAX, u64::MAX)));
        check("squall-stamp p1 00000000000000000007 00000000000000000008", Some((7, 8)));
        check("squall-stamp p1 000000000000000000007 8", None);
        check("squall-stamp p1 7 000000000000000000008", None);
        check("squall-stamp p1 7 18446744073709551616", None);
        // Publishers of 1 to 64 bytes, none of them a space.
        check(&format!("squall-stamp {} 1 7", "p".repeat(64)), Some((1, 7)));
        check(&format!("squall-stamp {} 1 7", "p".repeat(65)), None);
        check("squall-stamp b\u{f6}\u{1F4A7} 1 7", Some((1, 7)));
        // Our widths with another publisher, unless it could be one of ours that was damaged.
        check("squall-stamp p1 000000000012 00000000000000000034", Some((12, 34)));
        check("squall-stamp 000000000000FEED 000000000012 00000000000000000034", None);
        // 16 hexadecimal digits bind to our widths; one more or less does not.
        check("squall-stamp 000000000000feed 12 34", None);
        check("squall-stamp 00000000000feed 12 34", Some((12, 34)));
        check("squall-stamp 0000000000000feed 12 34", Some((12, 34)));
    }

    /// The hash is FNV-1a, whose results are published: 0xaf63dc4c8601ec8c for "a".
    #[test]
    fn publishers_of_other_programs_are_told_apart_by_a_hash() {
        let who = |text: &str| Stamp::find(text.as_bytes()).unwrap().publisher;
        assert_eq!(who("squall-stamp a 1 2"), 0xaf63_dc4c_8601_ec8c);
        assert_ne!(who("squall-stamp a 1 2"), who("squall-stamp b 1 2"));
        for name in ["a", "b", "server-1", "2", "deadbeef"] {
            assert_eq!(who(&format!("squall-stamp {name} 1 2")) >> 63, 1, "{name}");
        }
    }

    #[test]
    fn several_stamps_in_one_message_are_all_found() {
        let stamps = [1, 2, 3].map(|sequence| Stamp { sequence, ..STAMP });
        let data = stamps.map(|stamp| text(stamp, STAMP_BYTES_MIN + 5)).concat();
        assert_eq!(Stamp::find_all(data.as_bytes()).collect::<Vec<_>>(), stamps);
    }
}
