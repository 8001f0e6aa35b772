//! A blocking HTTP/1.1 client on one connection, with its bytes in sight.
//!
//! It keeps connections alive, may have several requests on the way, and never retries:
//! what a test wants to see, it sees. Start at [`Connection::call`], or at [`call`] for a
//! single request.

mod connection;

mod message;

pub use connection::{Connection, TIMEOUT_DEFAULT, call};
pub use message::{Request, Response};
