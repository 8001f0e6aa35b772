//! Watches the store: a process whose store has failed ends, whatever hangs.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use squall_server::Observer;
use squall_stream::observer::{Change, Health, StoreObserver};

use crate::exit::Exit;

/// Longest time from the store's failure to the end of the process. The server's own way
/// out takes half a second.
const FAILED_END_MAX: Duration = Duration::from_secs(5);

/// Hands everything to the server, and starts the clock when the store has failed.
pub(super) struct Watch {
    server: Arc<Observer>,
}

impl Watch {
    pub(super) fn over(server: Arc<Observer>) -> Arc<Self> {
        Arc::new(Self { server })
    }
}

impl StoreObserver for Watch {
    fn committed(&self, changes: &[Change]) {
        self.server.committed(changes);
    }

    fn health_changed(&self, health: &Health) {
        if matches!(health, Health::Failed { .. }) {
            let started = thread::Builder::new().name("squall-end".to_owned()).spawn(|| end());
            if started.is_err() {
                Exit::StorageFailed.now();
            }
        }
        self.server.health_changed(health);
    }
}

/// Ends the process once its time is up.
fn end() -> ! {
    let deadline = Instant::now() + FAILED_END_MAX;
    while let Some(left) = deadline.checked_duration_since(Instant::now()) {
        thread::park_timeout(left);
    }
    Exit::StorageFailed.now_saying("the server did not end by itself after the store had failed")
}
