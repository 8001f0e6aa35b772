//! Errors as clients see them: problems of RFC 9457 with a stable code and a hint.

mod code;

mod problem_reply;

pub use code::ErrorCode;

pub(crate) use problem_reply::{Problem, RETRY_AFTER_S};
