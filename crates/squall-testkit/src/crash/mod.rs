//! The crash test: a server killed amid appends, and what must be there afterwards.
//!
//! A round creates a stream, appends to it from many connections, kills the server at a
//! random moment (SIGKILL), starts it again on the same data, repeats what was in flight
//! where a producer identity makes that safe, reads the stream back, and compares it with
//! what every connection remembers. Start at [`run`]; the comparison alone, without a
//! server, is [`verify`].
//!
//! SIGKILL keeps the page cache, so this proves the order of acks and recovery, not that
//! the disk was synced: that is shown by tracing the sync calls.

mod run;

mod worker;

mod read_back;

mod verify;

mod event;

pub use event::EventId;
pub use read_back::read_back;
pub use run::{CrashError, CrashOptions, RoundReport, Summary, run};
pub use verify::{ConnectionLog, Outcome, Verdict, Violation, verify};
