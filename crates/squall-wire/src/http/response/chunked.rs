//! The chunked coding (RFC 9112 §7.1), without holding a byte.

use memchr::memchr;

use super::error::FramingError;
use super::framing::is_value_byte;
use super::limits::ResponseLimits;

/// What a chunked body yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum ChunkedPart<'i> {
    /// Data of a chunk, or a piece of it. Never empty.
    Data(&'i [u8]),
    /// The trailers are over.
    End,
}

/// Takes one body apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) struct ChunkedDecoder {
    phase: Phase,
    /// Bytes of the size line or of the trailers so far, whichever is being read.
    line_bytes: usize,
    /// The size as far as it was read, then the bytes of data that are still to come.
    size: u64,
}

/// What the next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The first digit of a size.
    FirstDigit,
    /// Another digit, or what ends the size.
    Digit,
    /// White space behind the size, which RFC 9112 allows before a semicolon only, but which
    /// old servers pad the size with.
    Space,
    /// Inside the extensions. A quoted one may hold any character but a line end.
    Extension,
    /// The line feed behind the size line's carriage return.
    SizeLineFeed,
    Data,
    /// The line end behind the data.
    DataEnd,
    /// The line feed behind the data's carriage return.
    DataLineFeed,
    /// The start of a trailer, or of the empty line that ends all.
    TrailerStart,
    Trailer,
    /// The line feed of the empty line.
    LastLineFeed,
}

impl ChunkedDecoder {
    pub(in crate::http) fn new() -> Self {
        Self { phase: Phase::FirstDigit, line_bytes: 0, size: 0 }
    }

    /// Takes bytes off the front of `input` until there is data, or the end. `None` means that
    /// `input` is used up.
    pub(in crate::http) fn decode<'i>(
        &mut self,
        input: &mut &'i [u8],
        limits: &ResponseLimits,
    ) -> Result<Option<ChunkedPart<'i>>, FramingError> {
        while let Some((first, rest)) = input.split_first() {
            match self.phase {
                Phase::Data => return Ok(Some(ChunkedPart::Data(self.data(input)))),
                Phase::Trailer => self.skip_trailer(input, limits)?,
                Phase::TrailerStart | Phase::LastLineFeed => {
                    *input = rest;
                    if self.trailer_byte(*first, limits)? {
                        return Ok(Some(ChunkedPart::End));
                    }
                }
                Phase::DataEnd | Phase::DataLineFeed => {
                    *input = rest;
                    self.data_end_byte(*first)?;
                }
                _ => {
                    *input = rest;
                    self.size_byte(*first, limits)?;
                }
            }
        }
        Ok(None)
    }

    fn data<'i>(&mut self, input: &mut &'i [u8]) -> &'i [u8] {
        let data = take(input, &mut self.size);
        if self.size == 0 {
            self.phase = Phase::DataEnd;
        }
        data
    }

    fn size_byte(&mut self, byte: u8, limits: &ResponseLimits) -> Result<(), FramingError> {
        self.line_bytes += 1;
        if self.line_bytes > limits.chunk_line_bytes_max {
            let chunk_line_bytes_max = limits.chunk_line_bytes_max;
            return Err(FramingError::ChunkLineTooLong { chunk_line_bytes_max });
        }
        self.phase = match (self.phase, byte) {
            (Phase::FirstDigit | Phase::Digit, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.push_digit(byte)?;
                Phase::Digit
            }
            (Phase::FirstDigit, _) => return Err(FramingError::ChunkSize),
            (_, b'\n') => {
                self.line_bytes = 0;
                if self.size == 0 { Phase::TrailerStart } else { Phase::Data }
            }
            (Phase::SizeLineFeed, _) => return Err(FramingError::ChunkSize),
            (_, b'\r') => Phase::SizeLineFeed,
            (Phase::Digit | Phase::Space, b' ' | b'\t') => Phase::Space,
            (Phase::Digit | Phase::Space, b';') => Phase::Extension,
            (Phase::Extension, byte) if is_value_byte(byte) => Phase::Extension,
            _ => return Err(FramingError::ChunkSize),
        };
        Ok(())
    }

    fn push_digit(&mut self, byte: u8) -> Result<(), FramingError> {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            _ => (byte | 0x20) - b'a' + 10,
        };
        let shifted = self.size.checked_mul(16).ok_or(FramingError::ChunkSizeTooLarge)?;
        self.size = shifted | u64::from(digit);
        Ok(())
    }

    fn data_end_byte(&mut self, byte: u8) -> Result<(), FramingError> {
        self.phase = match (self.phase, byte) {
            (_, b'\n') => Phase::FirstDigit,
            (Phase::DataEnd, b'\r') => Phase::DataLineFeed,
            _ => return Err(FramingError::ChunkEnd),
        };
        Ok(())
    }

    /// Whether the byte was the last one.
    fn trailer_byte(&mut self, byte: u8, limits: &ResponseLimits) -> Result<bool, FramingError> {
        self.count_trailer(1, limits)?;
        self.phase = match (self.phase, byte) {
            (_, b'\n') => return Ok(true),
            (Phase::LastLineFeed, _) => return Err(FramingError::Trailer),
            (_, b'\r') => Phase::LastLineFeed,
            _ => Phase::Trailer,
        };
        Ok(false)
    }

    fn skip_trailer(
        &mut self,
        input: &mut &[u8],
        limits: &ResponseLimits,
    ) -> Result<(), FramingError> {
        let line_end = memchr(b'\n', input);
        let skipped = line_end.map_or(input.len(), |line_end| line_end + 1);
        if line_end.is_some() {
            self.phase = Phase::TrailerStart;
        }
        *input = input.get(skipped..).unwrap_or_default();
        self.count_trailer(skipped, limits)
    }

    fn count_trailer(&mut self, bytes: usize, limits: &ResponseLimits) -> Result<(), FramingError> {
        self.line_bytes = self.line_bytes.saturating_add(bytes);
        if self.line_bytes > limits.trailer_bytes_max {
            let trailer_bytes_max = limits.trailer_bytes_max;
            return Err(FramingError::TrailersTooLong { trailer_bytes_max });
        }
        Ok(())
    }
}

/// Takes up to `rest` bytes off the front of `input`, and counts `rest` down.
pub(super) fn take<'i>(input: &mut &'i [u8], rest: &mut u64) -> &'i [u8] {
    let len = usize::try_from(*rest).map_or(input.len(), |rest| rest.min(input.len()));
    let (taken, behind) = input.split_at(len);
    *input = behind;
    // A length of memory always fits into 64 bits.
    *rest = rest.saturating_sub(u64::try_from(len).unwrap_or(u64::MAX));
    taken
}
