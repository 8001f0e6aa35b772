//! The sweep: once a second, cuts the connections that passed a deadline.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use slab::Slab;

use crate::door::state::{ConnectionState, Deadlines};

/// All open connections.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    open: Mutex<Slab<Arc<ConnectionState>>>,
}

/// One open connection, forgotten when dropped.
#[derive(Debug)]
pub(crate) struct Registered {
    connections: Arc<Connections>,
    key: usize,
}

impl Connections {
    pub(crate) fn register(self: &Arc<Self>, state: Arc<ConnectionState>) -> Registered {
        let key = self.lock().insert(state);
        Registered { connections: Arc::clone(self), key }
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    pub(crate) fn shut_down_all(&self) {
        self.lock().iter().for_each(|(_, state)| state.shut_down());
    }

    /// Cuts follows whose peers take nothing: they go on elsewhere from their last id.
    pub(crate) fn cut_stalled_follows(&self) {
        let open = self.lock();
        let stalled = open.iter().filter(|(_, state)| state.is_stalled_follow());
        stalled.for_each(|(_, state)| state.cut());
    }

    pub(crate) fn cut_all(&self) {
        self.lock().iter().for_each(|(_, state)| state.cut());
    }

    /// Cuts what is overdue at `now_ms`; returns how many that were.
    pub(crate) fn sweep(&self, now_ms: u64, deadlines: &Deadlines) -> u64 {
        let mut cut = 0;
        for (_, state) in self.lock().iter() {
            if let Some(reason) = state.overdue(now_ms, deadlines) {
                tracing::debug!(reason, "connection cut");
                state.cut();
                cut += 1;
            }
        }
        cut
    }

    fn lock(&self) -> MutexGuard<'_, Slab<Arc<ConnectionState>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.connections.lock().try_remove(self.key);
    }
}
