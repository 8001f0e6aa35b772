//! Why a request cannot be built.

/// What is wrong with the parts of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// The method is no token (RFC 9110 §5.6.2).
    #[error("the method {method:?} is not a token: letters, digits and !#$%&'*+-.^_`|~")]
    Method {
        /// The method.
        method: String,
    },
    /// The target does not begin as the method needs it (RFC 9112 §3.2).
    #[error(
        "the target {target:?} does not begin with a slash (and is neither * for OPTIONS nor \
         host:port for CONNECT)"
    )]
    TargetForm {
        /// The target.
        target: String,
    },
    /// The target holds a space or a control character.
    #[error("the target {target:?} holds a space or a control character: write it as %XX")]
    TargetCharacter {
        /// The target.
        target: String,
    },
    /// The host holds a space or a control character.
    #[error("the host {host:?} holds a space or a control character")]
    Host {
        /// The host.
        host: String,
    },
    /// The name of a header is no token (RFC 9110 §5.1).
    #[error("the header name {name:?} is not a token: letters, digits and !#$%&'*+-.^_`|~")]
    HeaderName {
        /// The name.
        name: String,
    },
    /// The value of a header would end its line (RFC 9110 §5.5).
    #[error("the value of the header {name} holds a line end or a NUL")]
    HeaderValue {
        /// The name of the header.
        name: String,
    },
    /// A given length is not that of the body.
    #[error("the given Content-Length is {given:?}, but the body has {body_bytes} bytes")]
    ContentLength {
        /// The value that was given.
        given: String,
        /// Length of the body with its fields filled in, in bytes.
        body_bytes: usize,
    },
    /// A given coding is not that of the body (RFC 9112 §6.1 and §6.3, rule 4).
    #[error(
        "the given Transfer-Encoding is {given:?}, but the body is not one whole message of chunks"
    )]
    TransferEncoding {
        /// The value that was given.
        given: String,
    },
    /// A request must not have both (RFC 9112 §6.2).
    #[error("both Content-Length and Transfer-Encoding are given")]
    TwoLengths,
    /// A field has a known name, but its argument makes no sense.
    #[error("the field {field} is malformed: {expected}")]
    Field {
        /// The field, with its braces.
        field: String,
        /// What its argument must be.
        expected: &'static str,
    },
    /// A stamp has spaces in it.
    #[error("the target holds {field}, but a stamp has spaces in it: put it into the body")]
    StampInTarget {
        /// The field, with its braces.
        field: String,
    },
}
