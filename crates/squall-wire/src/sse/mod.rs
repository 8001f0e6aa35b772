//! Server-Sent Events, as the WHATWG HTML standard defines them for clients.
//!
//! [`encode`] appends messages to a buffer, [`decode`] takes bytes in any portions and yields
//! events. Each is the mirror of the other: what one writes the other gives back, with CR and
//! CRLF in data turned into LF, since the format has only one line end.

pub mod encode;

pub mod decode;

mod line_ends;
