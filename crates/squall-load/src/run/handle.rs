//! How a run is ended from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends a run from another thread.
#[derive(Clone, Debug, Default)]
pub struct RunHandle {
    switches: Arc<Switches>,
}

#[derive(Debug, Default)]
struct Switches {
    ends_window: AtomicBool,
    stops: AtomicBool,
}

impl RunHandle {
    /// A handle of a run that is yet to begin.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the window; what is on its way is still waited for, and everything is reported.
    pub fn end_window(&self) {
        self.switches.ends_window.store(true, Ordering::Release);
    }

    /// Ends the run at once; what is on its way counts as unanswered.
    pub fn stop_now(&self) {
        self.switches.stops.store(true, Ordering::Release);
    }

    pub(super) fn ends_window(&self) -> bool {
        self.switches.ends_window.load(Ordering::Acquire) || self.stops()
    }

    pub(super) fn stops(&self) -> bool {
        self.switches.stops.load(Ordering::Acquire)
    }
}
