//! Server-Sent Events, as the WHATWG HTML standard defines them for clients.
//!
//! [`encode`] appends messages to a buffer. What it writes a client gives back, with CR and
//! CRLF in data turned into LF, since the format has only one line end.

pub mod encode;
