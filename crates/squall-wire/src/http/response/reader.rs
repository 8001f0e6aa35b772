//! The reader: heads and bodies, one reply after another.

use memchr::memchr;

use super::cache::HeadCache;
use super::chunked::{ChunkedDecoder, ChunkedPart, take};
use super::error::FramingError;
use super::head::{self, ParsedHead};
use super::limits::ResponseLimits;
use super::part::{BodyFraming, EndOfStream, RequestKind, ResponseHead, ResponsePart};

/// Bytes from which it is sure that a reply is HTTP: `HTTP/1.1` and a space.
const VERSION_BYTES: usize = 9;

/// Room that is kept for the next head that is cut, in bytes; more is given back.
const HELD_BYTES_KEPT: usize = 4 * 1024;

/// Reads the replies of one connection.
///
/// Bodies are lent from the input and never copied; a head is copied only while it is cut.
///
/// ```
/// use squall_wire::http::response::{
///     HeadCache, RequestKind, ResponseLimits, ResponsePart, ResponseReader,
/// };
///
/// let (mut cache, limits) = (HeadCache::new(), ResponseLimits::default());
/// let mut reader = ResponseReader::new();
/// let mut body = Vec::new();
/// for portion in [&b"HTTP/1.1 200 OK\r\nContent-Le"[..], b"ngth: 5\r\n\r\nhel", b"lo"] {
///     let mut input = portion;
///     while let Some(part) = reader.read(&mut input, RequestKind::Other, &mut cache, &limits)? {
///         match part {
///             ResponsePart::Head(head) => assert_eq!(head.status, 200),
///             ResponsePart::Body(bytes) => body.extend_from_slice(bytes),
///             ResponsePart::Interim(_) | ResponsePart::End => {}
///         }
///     }
/// }
/// assert_eq!(body, b"hello");
/// assert!(reader.is_idle());
/// # Ok::<(), squall_wire::http::response::FramingError>(())
/// ```
#[derive(Debug, Default)]
pub struct ResponseReader {
    state: State,
    /// The start of a head whose end has not come yet, without empty lines before it.
    held: Vec<u8>,
}

/// What comes next.
#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// A head, or more of one if some is held.
    #[default]
    Head,
    /// The line feed of an empty line before a head.
    EmptyLine,
    /// More of a body of which this many bytes are missing.
    Sized(u64),
    Chunked(ChunkedDecoder),
    UntilClose,
    /// Nothing: the reply is complete, and only that is still to be said.
    End,
    Failed(FramingError),
}

impl ResponseReader {
    /// A reader at the start of a connection.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts over at the first byte of a new connection.
    pub fn reset(&mut self) {
        self.state = State::Head;
        self.release_held();
    }

    /// Whether the bytes so far end between two replies.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Head | State::EmptyLine) && self.held.is_empty()
    }

    /// Takes bytes off the front of `input` until a part is complete.
    ///
    /// `None` means that `input` is used up and that nothing is left to say: call again with the
    /// next bytes of the connection. `request` is the kind of request that the reply at the
    /// front answers: the same from its first byte to its [`End`](ResponsePart::End).
    ///
    /// # Errors
    /// [`FramingError`] if the bytes break the rules or pass a limit. It stays until
    /// [`reset`](Self::reset).
    pub fn read<'i>(
        &mut self,
        input: &mut &'i [u8],
        request: RequestKind,
        cache: &mut HeadCache,
        limits: &ResponseLimits,
    ) -> Result<Option<ResponsePart<'i>>, FramingError> {
        let read = self.advance(input, request, cache, limits);
        if let Err(error) = read {
            self.state = State::Failed(error);
            self.release_held();
        }
        read
    }

    /// The peer has closed its side: what that means for the reply that was being read. The
    /// reader starts over.
    pub fn end(&mut self) -> EndOfStream {
        let end = match self.state {
            State::Head | State::EmptyLine if self.held.is_empty() => EndOfStream::Idle,
            State::UntilClose | State::End => EndOfStream::Complete,
            _ => EndOfStream::Truncated,
        };
        self.reset();
        end
    }

    fn advance<'i>(
        &mut self,
        input: &mut &'i [u8],
        request: RequestKind,
        cache: &mut HeadCache,
        limits: &ResponseLimits,
    ) -> Result<Option<ResponsePart<'i>>, FramingError> {
        match &mut self.state {
            State::Head if self.held.is_empty() => self.read_head(input, request, cache, limits),
            State::Head => self.read_held_head(input, request, limits),
            State::EmptyLine => self.read_empty_line(input, request, cache, limits),
            State::End => {
                self.state = State::Head;
                Ok(Some(ResponsePart::End))
            }
            State::UntilClose => Ok(body(std::mem::take(input))),
            State::Sized(rest) => {
                let bytes = take(input, rest);
                if *rest == 0 {
                    self.state = State::End;
                }
                Ok(body(bytes))
            }
            State::Chunked(decoder) => match decoder.decode(input, limits)? {
                Some(ChunkedPart::Data(bytes)) => Ok(body(bytes)),
                Some(ChunkedPart::End) => {
                    self.state = State::Head;
                    Ok(Some(ResponsePart::End))
                }
                None => Ok(None),
            },
            State::Failed(error) => Err(*error),
        }
    }

    /// Reads a head of which nothing is held.
    fn read_head<'i>(
        &mut self,
        input: &mut &'i [u8],
        request: RequestKind,
        cache: &mut HeadCache,
        limits: &ResponseLimits,
    ) -> Result<Option<ResponsePart<'i>>, FramingError> {
        self.skip_empty_lines(input)?;
        if input.is_empty() {
            return Ok(None);
        }
        if let Some((head, len)) = cache.find(input, request, limits) {
            *input = input.get(len..).unwrap_or_default();
            return Ok(Some(self.begin(head)));
        }
        let window = input.get(..limits.head_bytes_max).unwrap_or(input);
        if let Some(parsed) = head::parse(window, request, limits)? {
            let (bytes, behind) = input.split_at_checked(parsed.len).unwrap_or((input, &[]));
            cache.keep(bytes, request, &parsed);
            *input = behind;
            return Ok(Some(self.begin(parsed.head)));
        }
        if window.len() < input.len() {
            return Err(too_long(limits));
        }
        self.held.extend_from_slice(input);
        *input = &[];
        Ok(None)
    }

    /// RFC 9112 §2.2 has a server skip empty lines before a request; some servers send one
    /// behind a body, so they are skipped here as well.
    fn skip_empty_lines(&mut self, input: &mut &[u8]) -> Result<(), FramingError> {
        loop {
            match *input {
                [b'\n', rest @ ..] | [b'\r', b'\n', rest @ ..] => *input = rest,
                [b'\r'] => {
                    self.state = State::EmptyLine;
                    *input = &[];
                }
                [b'\r', ..] => return Err(FramingError::NotHttp),
                _ => return Ok(()),
            }
        }
    }

    fn read_empty_line<'i>(
        &mut self,
        input: &mut &'i [u8],
        request: RequestKind,
        cache: &mut HeadCache,
        limits: &ResponseLimits,
    ) -> Result<Option<ResponsePart<'i>>, FramingError> {
        match *input {
            [] => Ok(None),
            [b'\n', rest @ ..] => {
                *input = rest;
                self.state = State::Head;
                self.read_head(input, request, cache, limits)
            }
            _ => Err(FramingError::NotHttp),
        }
    }

    /// Reads on in a head that was cut. It is parsed again only for a new line, or while its
    /// first bytes could still turn out not to be HTTP.
    fn read_held_head<'i>(
        &mut self,
        input: &mut &'i [u8],
        request: RequestKind,
        limits: &ResponseLimits,
    ) -> Result<Option<ResponsePart<'i>>, FramingError> {
        let may_be_other = self.held.len() < VERSION_BYTES;
        let held = self.hold_lines(input, limits);
        if (may_be_other || held.has_new_line)
            && let Some(ParsedHead { head, .. }) = head::parse(&self.held, request, limits)?
        {
            self.release_held();
            return Ok(Some(self.begin(head)));
        }
        if held.is_too_long { Err(too_long(limits)) } else { Ok(None) }
    }

    /// Moves lines from `input` to what is held, up to an empty line, which ends the head. No
    /// other line ends it: the parser takes a line feed for the end of a line wherever it stands.
    fn hold_lines(&mut self, input: &mut &[u8], limits: &ResponseLimits) -> HeldLines {
        let mut lines = HeldLines::default();
        while !input.is_empty() {
            let line_end = memchr(b'\n', input).map(|line_feed| line_feed + 1);
            let len = line_end.unwrap_or(input.len());
            let room = limits.head_bytes_max.saturating_sub(self.held.len());
            let (portion, behind) = input.split_at_checked(len.min(room)).unwrap_or((input, &[]));
            self.held.extend_from_slice(portion);
            *input = behind;
            if room < len {
                lines.is_too_long = true;
                break;
            }
            lines.has_new_line |= line_end.is_some();
            if self.held.ends_with(b"\n\n") || self.held.ends_with(b"\n\r\n") {
                break;
            }
        }
        lines
    }

    /// Turns to what follows a head.
    fn begin<'i>(&mut self, head: ResponseHead) -> ResponsePart<'i> {
        if head.status != 101 && (100..=199).contains(&head.status) {
            return ResponsePart::Interim(head.status);
        }
        self.state = match head.framing {
            BodyFraming::Empty | BodyFraming::Length(0) => State::End,
            BodyFraming::Length(length) => State::Sized(length),
            BodyFraming::Chunked => State::Chunked(ChunkedDecoder::new()),
            BodyFraming::UntilClose => State::UntilClose,
        };
        ResponsePart::Head(head)
    }

    fn release_held(&mut self) {
        self.held.clear();
        self.held.shrink_to(HELD_BYTES_KEPT);
    }
}

/// What was added to a head that was cut.
#[derive(Debug, Default)]
struct HeldLines {
    has_new_line: bool,
    is_too_long: bool,
}

fn body(bytes: &[u8]) -> Option<ResponsePart<'_>> {
    (!bytes.is_empty()).then_some(ResponsePart::Body(bytes))
}

fn too_long(limits: &ResponseLimits) -> FramingError {
    FramingError::HeadTooLong { head_bytes_max: limits.head_bytes_max }
}
