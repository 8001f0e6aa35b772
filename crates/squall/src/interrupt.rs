//! Ctrl-C while something is measured: the first ends the window, the second the waiting for
//! replies. What was measured is reported after either.

use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use squall_load::run::RunHandle;

use crate::exit::{Exit, Failure};
use crate::signals::Signals;

/// A run ends by itself; nothing has to end it from outside.
const NEVER: Duration = Duration::from_secs(10 * 365 * 24 * 3_600);

/// Longest time from the second signal to the end of the process, its report included.
const REPORT_MAX: Duration = Duration::from_secs(2);

/// Remembers which signal ended the window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<OnceLock<Exit>>);

impl Interrupt {
    /// Lets the first signal end the window of `handle`, and the second the run.
    pub(crate) fn ends(handle: &RunHandle) -> Result<Self, Failure> {
        let stopped = handle.clone();
        let signals = Signals::listen_and_hurry(NEVER, move || stopped.stop_now(), REPORT_MAX)?;
        let interrupt = Self::default();
        let (handle, heard) = (handle.clone(), interrupt.clone());
        let hear = move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else {
                return;
            };
            let signal = runtime.block_on(signals.first());
            let exit = if signal == "SIGTERM" { Exit::Terminated } else { Exit::Interrupted };
            // There is only one first signal.
            heard.0.set(exit).ok();
            handle.end_window();
        };
        thread::Builder::new().spawn(hear).context("cannot start the thread that hears signals")?;
        Ok(interrupt)
    }

    /// The exit code, if there was a signal.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.0.get().copied()
    }
}
