//! The engine as its users see it: on real files, through [`squall_stream::StreamStore`].
#![expect(clippy::unwrap_used, reason = "what a test cannot do without may panic")]

mod support;

mod conformance;
mod expiry;
mod files;
mod limits;
mod purge;
mod trouble;
mod wal;
