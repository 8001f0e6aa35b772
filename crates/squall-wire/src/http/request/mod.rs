//! Requests: bytes built once, and sent many times.
//!
//! Owns the form of a request (RFC 9112 §3), the few headers that it cannot do without, and the
//! fields that change from one sending to the next. Does not own when it is sent, nor where the
//! values of the fields come from.
//! Invariant: every field has a fixed width, so that all sendings of a template have one length
//! and differ in place only. Start at [`RequestTemplate::build`].

mod error;
mod fields;
mod parts;
mod template;

mod rules;

pub use error::TemplateError;
pub use fields::FieldValues;
pub use parts::{HttpVersion, RequestParts};
pub use template::RequestTemplate;

#[cfg(test)]
mod tests;
