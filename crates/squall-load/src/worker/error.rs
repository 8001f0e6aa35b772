//! Why a thread could not do its work.

use std::io;

use crate::host::cpus;

/// Why a thread could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// It could not be pinned.
    #[error(transparent)]
    Pin(#[from] cpus::PinError),
    /// The kernel refused something that every loop needs.
    #[error("the event loop failed")]
    Loop(#[from] io::Error),
}
