//! Offsets: positions between events, opaque to clients.

use std::fmt;
use std::str::FromStr;

use crate::limits::POSITION_MAX;

/// Digits of each half of a printed offset.
const DIGITS: usize = 16;

/// Bytes of a printed offset.
pub const OFFSET_BYTES: usize = 2 * DIGITS + 1;

/// A position between bytes of a stream; reading from it gives what was appended at or after it.
///
/// Printed as two zero-padded decimals of sixteen digits, so that the order of the
/// texts is the order of the offsets. The halves mean something to an engine alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset {
    high: u64,
    low: u64,
}

/// A text that is no offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an offset is -1, now, last, or a value that this server returned, such as {}",
    Offset::START
)]
pub struct OffsetError;

impl Offset {
    /// The start of every stream.
    pub const START: Self = Self { high: 0, low: 0 };

    /// The offset `position` bytes from the start, for an engine that counts bytes.
    ///
    /// Positions above [`POSITION_MAX`] do not print in sixteen digits and are clamped to it.
    #[must_use]
    pub const fn at(position: u64) -> Self {
        let low = if position > POSITION_MAX { POSITION_MAX } else { position };
        Self { high: 0, low }
    }

    /// The offset `bytes` behind this one inside the same event.
    ///
    /// Every engine counts the low half in bytes within an event, so this is meaningful
    /// up to the event's end, and there alone.
    #[must_use]
    pub const fn inside_event(self, bytes: u64) -> Self {
        Self { high: self.high, low: self.low.saturating_add(bytes) }
    }

    /// The byte position, or none if this offset was not made by an engine that counts bytes.
    #[must_use]
    pub const fn position(self) -> Option<u64> {
        if self.high == 0 { Some(self.low) } else { None }
    }
}

impl Offset {
    /// The offset as it is printed: two decimals of sixteen digits.
    #[must_use]
    pub fn to_ascii(self) -> [u8; OFFSET_BYTES] {
        let mut text = [b'0'; OFFSET_BYTES];
        let (high, low) = text.split_at_mut(DIGITS);
        print_digits(high, self.high);
        if let Some((separator, low)) = low.split_first_mut() {
            *separator = b'_';
            print_digits(low, self.low);
        }
        text
    }
}

/// Prints the last digits of `number`, as many as there is room for.
fn print_digits(room: &mut [u8], mut number: u64) {
    for place in room.iter_mut().rev() {
        // A digit fits into a byte.
        *place = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.to_ascii()).or(Err(fmt::Error))?)
    }
}

impl FromStr for Offset {
    type Err = OffsetError;

    fn from_str(text: &str) -> Result<Self, OffsetError> {
        let (high, low) = text.split_once('_').ok_or(OffsetError)?;
        Ok(Self { high: sixteen_digits(high)?, low: sixteen_digits(low)? })
    }
}

fn sixteen_digits(text: &str) -> Result<u64, OffsetError> {
    let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        return Err(OffsetError);
    }
    text.parse().or(Err(OffsetError))
}

/// Where a read starts, as a client may say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// `-1`: the first event that is still there.
    Start,
    /// `now`: the tail at the time of the read.
    Now,
    /// `last`: before the newest event; the tail if there is none.
    Last,
    /// A position that a server returned earlier.
    At(Offset),
}

impl FromStr for ReadFrom {
    type Err = OffsetError;

    fn from_str(text: &str) -> Result<Self, OffsetError> {
        match text {
            "-1" => Ok(Self::Start),
            "now" => Ok(Self::Now),
            "last" => Ok(Self::Last),
            _ => text.parse().map(Self::At),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn print_and_parse_agree() {
        for position in [0, 14, 9_999, POSITION_MAX] {
            let offset = Offset::at(position);
            assert_eq!(offset.to_string().parse(), Ok(offset));
        }
        assert_eq!(Offset::at(14).to_string(), "0000000000000000_0000000000000014");
    }

    #[test]
    fn a_foreign_offset_parses_but_has_no_position() {
        let beyond: Offset = "9999999999999999_9999999999999999".parse().unwrap();
        assert_eq!(beyond.position(), None);
        assert!(beyond > Offset::at(POSITION_MAX));
    }

    #[test]
    fn other_texts_are_refused() {
        let wrong = [
            "",
            "0",
            "-1",
            "now",
            "0_0",
            "000000000000000_0000000000000000",
            "0000000000000000-0000000000000000",
            "0000000000000000_00000000000000001",
            "+000000000000000_0000000000000000",
            "0000000000000000_000000000000000a",
            "0000000000000000_0000000000000000 ",
            "٠٠٠٠٠٠٠٠_0000000000000000",
        ];
        for text in wrong {
            assert_eq!(text.parse::<Offset>(), Err(OffsetError), "{text:?}");
        }
        assert_eq!("-1".parse(), Ok(ReadFrom::Start));
        assert_eq!("NOW".parse::<ReadFrom>(), Err(OffsetError));
    }
}
