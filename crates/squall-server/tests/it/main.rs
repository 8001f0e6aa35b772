//! The server over real sockets, on the in-memory engine.

mod support;

mod smoke;
