//! Why a block was not written.

/// Why nothing was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A client ignores an id with NUL; CR or LF would start a field of the id's choosing.
    #[error("the id of an event must not contain NUL, CR or LF")]
    ForbiddenInId,
    /// CR or LF would start a field of the name's choosing; NUL is refused alike.
    #[error("the name of an event must not contain NUL, CR or LF")]
    ForbiddenInEvent,
}
