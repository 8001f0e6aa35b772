//! Whole blocks: a message with its data at hand, and the blocks that carry no data.

use memchr::memchr3;

use super::data::DataWriter;
use super::error::EncodeError;

/// Comment that keeps a connection alive. It has no id, so it moves no client's cursor.
pub const HEARTBEAT: &[u8] = b":\n\n";

/// Most bytes that names, colons, spaces, line ends and a retry add to one message of one line.
const FRAME_BYTES_MAX: usize = "id: \nretry: 18446744073709551615\nevent: \ndata: \n\n".len();

/// What stands above the data of a message. The default is data alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields<'a> {
    /// The client's new cursor. The empty id resets it.
    pub id: Option<&'a str>,
    /// How long a client waits before it connects again, in milliseconds.
    pub retry_ms: Option<u64>,
    /// The name of the event. Without one, and with the empty one, it is `message`.
    pub event: Option<&'a str>,
}

impl Fields<'_> {
    /// Appends the fields, each on its line, or nothing.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if self.id.is_some_and(is_forbidden) {
            return Err(EncodeError::ForbiddenInId);
        }
        if self.event.is_some_and(is_forbidden) {
            return Err(EncodeError::ForbiddenInEvent);
        }
        if let Some(id) = self.id {
            push_field(out, b"id: ", id);
        }
        if let Some(retry_ms) = self.retry_ms {
            push_retry(out, retry_ms);
        }
        if let Some(event) = self.event {
            push_field(out, b"event: ", event);
        }
        Ok(())
    }

    /// Enough room for a message with these fields and `data_len` bytes on one line.
    fn message_bytes(&self, data_len: usize) -> usize {
        let values = self.id.map_or(0, str::len) + self.event.map_or(0, str::len);
        FRAME_BYTES_MAX + values + data_len
    }
}

/// Appends one message.
///
/// CR, LF and CRLF each end a line of `data` once, so a final line end leaves an empty last
/// line and empty data is one empty line; a client gets all of them back, as LF.
///
/// # Errors
/// [`EncodeError`] if the id or the name cannot be framed; then nothing was appended.
pub fn message(out: &mut Vec<u8>, fields: &Fields<'_>, data: &[u8]) -> Result<(), EncodeError> {
    out.reserve(fields.message_bytes(data.len()));
    let mut writer = DataWriter::begin(out, fields)?;
    writer.push(data);
    writer.finish();
    Ok(())
}

/// Appends a block that sets the client's cursor and fires no event.
///
/// # Errors
/// [`EncodeError::ForbiddenInId`] if the id cannot be framed; then nothing was appended.
pub fn id_only(out: &mut Vec<u8>, id: &str) -> Result<(), EncodeError> {
    let fields = Fields { id: Some(id), ..Fields::default() };
    fields.write(out)?;
    out.push(b'\n');
    Ok(())
}

/// Appends a block that sets the client's wait before it connects again, in milliseconds, and
/// fires no event.
pub fn retry_only(out: &mut Vec<u8>, retry_ms: u64) {
    push_retry(out, retry_ms);
    out.push(b'\n');
}

/// Appends [`HEARTBEAT`].
pub fn heartbeat(out: &mut Vec<u8>) {
    out.extend_from_slice(HEARTBEAT);
}

fn is_forbidden(value: &str) -> bool {
    memchr3(b'\0', b'\r', b'\n', value.as_bytes()).is_some()
}

/// The space in `name` is the one a client strips, so `value` arrives as it is.
fn push_field(out: &mut Vec<u8>, name: &[u8], value: &str) {
    out.extend_from_slice(name);
    out.extend_from_slice(value.as_bytes());
    out.push(b'\n');
}

fn push_retry(out: &mut Vec<u8>, retry_ms: u64) {
    out.extend_from_slice(b"retry: ");
    push_decimal(out, retry_ms);
    out.push(b'\n');
}

fn push_decimal(out: &mut Vec<u8>, mut number: u64) {
    let start = out.len();
    loop {
        out.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    if let Some(digits) = out.get_mut(start..) {
        digits.reverse();
    }
}
