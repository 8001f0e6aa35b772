//! What an engine has to offer to be put to the test.

use std::sync::Arc;

use crate::instant::Clock;
use crate::limits::StreamLimits;
use crate::observer::StoreObserver;
use crate::store::StreamStore;

/// What a store is opened with.
#[derive(Clone)]
pub struct Setup {
    /// The limits that it keeps.
    pub limits: StreamLimits,
    /// The time, set by the suite. Nothing but this decides what is stored or expired.
    pub clock: Clock,
    /// Who is told of its changes.
    pub observer: Arc<dyn StoreObserver>,
}

/// A place that a store can be opened at.
pub trait Engine {
    /// Opens the store. The first call finds nothing stored. Before a further one the
    /// suite has shut the store down and dropped it.
    fn open(&mut self, setup: Setup) -> Arc<dyn StreamStore>;

    /// Whether a store that is opened again has what it had before. If not, the cases
    /// about that are passed over, and the suite says so.
    fn keeps_data(&self) -> bool;
}
