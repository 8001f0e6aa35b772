//! SIGINT and SIGTERM: the first asks to shut down, the second ends the process.
//!
//! They are heard on a thread of their own, so that a second signal is obeyed whatever the
//! threads that serve are stuck in. The same thread ends a shutdown that never comes to its
//! end.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::exit::{Exit, Failure};

/// A signal that comes again so soon is the same one: `timeout` sends its own to the
/// process and to its group, and a terminal's ctrl-C reaches a child of `cargo` twice.
const ECHO_MAX: Duration = Duration::from_millis(200);

/// The thread's name.
pub(crate) const THREAD: &str = "squall-signals";

/// The signals to this process.
pub(crate) struct Signals {
    first: oneshot::Receiver<&'static str>,
}

impl Signals {
    /// Hears them from now on. The shutdown that the first one asks for may take
    /// `shut_down_max`.
    pub(crate) fn listen(shut_down_max: Duration) -> Result<Self, Failure> {
        Self::listen_and_hurry(shut_down_max, || (), Duration::ZERO)
    }

    /// The same, but the second one calls `hurry`, and the process then has `hurry_max` to end
    /// by itself.
    pub(crate) fn listen_and_hurry(
        shut_down_max: Duration,
        hurry: impl FnOnce() + Send + 'static,
        hurry_max: Duration,
    ) -> Result<Self, Failure> {
        let (asked, first) = oneshot::channel();
        let (started, has_started) = std::sync::mpsc::sync_channel(1);
        let hear = move || match Both::new() {
            Ok((runtime, signals)) => {
                started.send(Ok(())).ok();
                runtime.block_on(async {
                    let exit = signals.obey(asked, shut_down_max).await;
                    hurry();
                    tokio::time::sleep(hurry_max).await;
                    exit.now_saying("a second signal: ending at once")
                });
            }
            Err(error) => drop(started.send(Err(error))),
        };
        let spawned = thread::Builder::new().name(THREAD.to_owned()).spawn(hear);
        spawned.context("cannot start the thread that hears signals")?;
        let heard = has_started.recv().unwrap_or_else(|error| Err(io::Error::other(error)));
        heard.context("cannot hear signals")?;
        Ok(Self { first })
    }

    /// Resolves with the name of the first, once it has come.
    pub(crate) async fn first(self) -> &'static str {
        match self.first.await {
            Ok(signal) => {
                tracing::info!(signal, "shutting down; a second signal ends the process at once");
                signal
            }
            // The thread ends only with the process.
            Err(_) => std::future::pending().await,
        }
    }
}

struct Both {
    interrupt: Signal,
    terminate: Signal,
}

impl Both {
    fn new() -> io::Result<(tokio::runtime::Runtime, Self)> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let context = runtime.enter();
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        drop(context);
        Ok((runtime, Self { interrupt, terminate }))
    }

    /// Returns with the second one, how the process ends.
    async fn obey(mut self, asked: oneshot::Sender<&'static str>, shut_down_max: Duration) -> Exit {
        let (name, _) = self.next().await;
        // One that comes before the server runs is kept for it.
        asked.send(name).ok();
        let echoes_until = Instant::now() + ECHO_MAX;
        tokio::select! {
            exit = self.second(name, echoes_until) => exit,
            () = tokio::time::sleep(shut_down_max) => {
                Exit::Cut.now_saying("the shutdown did not come to its end")
            }
        }
    }

    /// The next signal that is no echo of the first.
    async fn second(&mut self, first: &str, echoes_until: Instant) -> Exit {
        loop {
            let (name, exit) = self.next().await;
            if name != first || Instant::now() >= echoes_until {
                return exit;
            }
        }
    }

    /// Cancel-safe: a signal that came while nobody waited is found by the next call.
    async fn next(&mut self) -> (&'static str, Exit) {
        tokio::select! {
            _ = self.interrupt.recv() => ("SIGINT", Exit::Interrupted),
            _ = self.terminate.recv() => ("SIGTERM", Exit::Terminated),
        }
    }
}
