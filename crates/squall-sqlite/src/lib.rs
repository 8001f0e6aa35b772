//! Streams in one SQLite file: the engine behind `squall serve`.
//!
//! Owns the data directory, the one thread that writes and the few that read, and the
//! batching between a caller and a commit. Does not own what a change means: that is
//! decided by [`squall_stream::machine`].
//!
//! Invariants: only the committer writes or checkpoints; nothing is visible or answered
//! before its commit is synced; after an I/O error at a write or a sync nothing is ever
//! acknowledged again. Every queue and cache has a maximum in [`SqliteConfig`].
//! Start at [`SqliteStore`], then at the committer's loop.

mod config;
mod store;

mod open;

mod job;
mod queue;
mod shared;
mod trouble;

mod committer;
mod reader;

mod newest;
mod rows;
mod usage;

pub use config::{Durability, SqliteConfig, system_clock};
pub use open::{OpenError, SCHEMA_VERSION};
pub use store::{SqliteStore, sqlite_version};
