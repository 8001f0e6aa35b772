//! A server that does to a client what a test says, and keeps account of it.
//!
//! It plays one [`Script`] per connection, or answers every request after a service time
//! ([`Service`]), over TCP, TLS or a Unix socket. What it did is in its [`Record`], in
//! nanoseconds of the monotonic clock, so that a load generator on the same machine can be
//! compared with it event by event. Limit: one thread per connection, at most
//! [`CONNECTIONS_MAX`] at a time. Everything ends when the server is dropped, whatever the
//! clients do. Start at [`ScriptedServer::start`].

mod reply;
mod script;
mod service;

mod clock;
mod record;
mod stop;

mod arrival;
mod conversation;
mod request;

mod transport;

mod play;
mod serve;

mod accept;
mod certificate;
mod server;
mod unreachable;

pub use clock::monotonic_ns;
pub use record::{ConnectionRecord, Ending, Record, RequestContent, RequestRecord};
pub use reply::{chunk, chunked, reply, sse_event, sse_event_plain, sse_head, sse_head_plain};
pub use script::{After, Script, Step};
pub use server::{Behaviour, CONNECTIONS_MAX, ScriptedServer};
pub use service::{Pause, Service, ServiceTimes};
pub use unreachable::{ClosedPort, DeafServer, closed_port};
