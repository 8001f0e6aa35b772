//! A gate that calls wait at.

use tokio::sync::watch;

/// Holds calls up until it is opened, once and for all. Clones are one gate.
#[derive(Clone, Debug)]
pub struct Gate(watch::Sender<bool>);

impl Default for Gate {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Gate {
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Calls that wait at the gate now.
    pub fn waiting(&self) -> usize {
        self.0.receiver_count()
    }

    pub(super) async fn opened(&self) {
        let mut state = self.0.subscribe();
        // Cannot fail: this gate holds the sender.
        drop(state.wait_for(|open| *open).await);
    }
}
