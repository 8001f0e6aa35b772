//! The named cases, each a promise of [`crate::StreamStore`].

mod append;
mod close;
mod create;
mod delete;
mod expiry;
mod list;
mod observe;
mod producer;
mod read;
mod reopen;
mod run;
mod trim;

pub use run::run;
