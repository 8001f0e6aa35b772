//! Waits for a future without a runtime.

use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// How long a wait may take before the suite calls it stuck.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(60);

struct Signal(SyncSender<()>);

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        // A full channel holds a signal already, and one is enough.
        let _sent_or_full = self.0.try_send(());
    }
}

/// Runs `future` to its end on this thread.
///
/// # Panics
/// If the future is not woken for a minute.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let (signal_tx, signal_rx) = sync_channel(1);
    let waker = Waker::from(Arc::new(Signal(signal_tx)));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        signal_rx.recv_timeout(WAIT_MAX).expect("the store answers in time");
    }
}
