//! The choice of the engine. Nothing else in the workspace names one outside tests.

use std::sync::Arc;

use squall_sqlite::{OpenError, SqliteConfig, SqliteStore};
use squall_stream::StreamStore;
use squall_stream::observer::StoreObserver;

use crate::exit::{Exit, Failure};

/// Opens the store, or says whose fault it is that it cannot be opened.
pub(super) fn open(
    config: SqliteConfig,
    observer: Arc<dyn StoreObserver>,
) -> Result<Arc<dyn StreamStore>, Failure> {
    match SqliteStore::open(config, observer) {
        Ok(store) => Ok(store),
        Err(error) => Err(Failure::new(exit_of(&error), error)),
    }
}

fn exit_of(error: &OpenError) -> Exit {
    match error {
        OpenError::Locked { .. } | OpenError::NewerSchema { .. } | OpenError::NotOurs { .. } => {
            Exit::DataUnusable
        }
        OpenError::Io { .. } | OpenError::Sqlite(_) => Exit::StorageFailed,
    }
}
