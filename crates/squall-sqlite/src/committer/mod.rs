//! The one thread that writes: takes what waits, decides it, commits it, answers.
//!
//! A batch is what arrived during the previous sync and a moment more (see the queue).
//! Between batches it checkpoints the log, sweeps expired streams, deletes rows that
//! nothing reads any more, and looks whether trouble has passed.
//!
//! Invariant: nothing is answered, reported or cached before its commit. Invariant: after
//! [`Fatal`] nothing is committed any more; the loop ends and the store has failed.
//! Start at [`Committer::run`].

mod cycle;

mod batch;
mod checkpoint;
mod decide;
mod events;
mod producers;
mod purge;
mod recover;
mod states;
mod sweep;
mod thread;
mod writer;

pub(crate) use cycle::{Committer, Fatal};
pub(crate) use thread::{Finished, start};
