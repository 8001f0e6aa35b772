//! What a request is made of.

/// The version that a request states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HttpVersion {
    /// HTTP/1.0: a connection serves one request unless both sides agree otherwise.
    V10,
    /// HTTP/1.1.
    #[default]
    V11,
}

/// A request as it was asked for.
#[derive(Clone, Copy, Debug)]
pub struct RequestParts<'p> {
    /// The method, as it is written: methods are case-sensitive.
    pub method: &'p str,
    /// What is asked for in origin form, such as `/a?b=c`; `*` for `OPTIONS` and `host:port`
    /// for `CONNECT`.
    pub target: &'p str,
    /// The value of `Host`, unless the headers have one.
    pub host: &'p str,
    /// The version in the request line.
    pub version: HttpVersion,
    /// Headers, sent as they are and in this order.
    pub headers: &'p [(String, String)],
    /// The body, as it goes over the wire.
    pub body: &'p [u8],
    /// Whether the connection is to persist behind the reply.
    pub keep_alive: bool,
    /// Whether `{{…}}` in the target and the values of headers is looked for.
    pub has_fields: bool,
    /// Whether `{{…}}` in the body is looked for.
    pub has_body_fields: bool,
}
