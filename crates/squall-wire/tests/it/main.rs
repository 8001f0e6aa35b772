//! Laws of the codecs, held against random input.

#![expect(clippy::unwrap_used, reason = "a test says no by panicking")]

mod http_request;
mod http_response;
mod sse;
mod utf8;
