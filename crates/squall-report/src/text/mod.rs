//! Numbers and words as people read them.

mod number;

mod words;

mod wrap;

pub(crate) use number::{bytes, count, per_second, percent, seconds, time, time_ns};
pub(crate) use words::{counted, failure_kinds, kinds};
pub(crate) use wrap::wrap;
