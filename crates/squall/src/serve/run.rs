//! The order of it: options, data, address, serving, the end.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use anyhow::Context;
use squall_server::{Ended, Observer};
use squall_stream::StreamStore;
use tokio::runtime::Runtime;

use crate::cli::ServeArgs;
use crate::exit::{Exit, Failure};
use crate::serve::watch::Watch;
use crate::serve::{announce, config, engine, files, listener, log};
use crate::signals::Signals;

/// What `run` may take beyond the time to drain: the store gets at least five seconds.
const SHUT_DOWN_GRACE: Duration = Duration::from_secs(15);
/// Longest wait for threads that still work when everything has been answered.
const RUNTIME_STOP_MAX: Duration = Duration::from_secs(1);

/// Serves until a signal or a failure of the store.
pub(crate) fn serve(args: &ServeArgs) -> Result<Exit, Failure> {
    let files_max = files::raise_limit().context("cannot read the limit of open files")?;
    log::start(&args.process);
    config::check(args, files_max)?;
    let server = config::server(args, files_max);
    let store = config::sqlite(args);
    let signals = Signals::listen(server.drain_max + SHUT_DOWN_GRACE)?;
    let idle = IdleHint::default();
    let runtime = runtime(config::threads(args), idle.clone())?;

    let observer = Observer::new(&server);
    let engine = engine::open(store.clone(), Watch::over(Arc::clone(&observer)))?;
    idle.goes_to(&engine);
    let listener = {
        let _context = runtime.enter();
        listener::bind(args.listen.listen)?
    };
    let address = listener.local_addr().context("cannot read the address that was bound")?;
    announce::limits(args, &server, &store, files_max);
    announce::ready(address, &args.storage.data);

    let drain_max = server.drain_max;
    let asked = async {
        signals.first().await;
    };
    let run = squall_server::run(listener, Arc::clone(&engine), observer, server, asked);
    let ended = runtime.block_on(run);
    if matches!(ended, Ended::StoreFailed { .. }) {
        // Closing waits for threads that may never answer; the kernel closes what is left.
        std::mem::forget(engine);
    }
    runtime.shutdown_timeout(RUNTIME_STOP_MAX);
    announce::ended(ended, drain_max)
}

/// Tells the engine when a thread of the runtime runs out of work.
#[derive(Clone, Default)]
struct IdleHint(Arc<OnceLock<Weak<dyn StreamStore>>>);

impl IdleHint {
    fn goes_to(&self, engine: &Arc<dyn StreamStore>) {
        // Called once; a second engine would not get the hint, which it does not depend on.
        self.0.set(Arc::downgrade(engine)).ok();
    }

    fn give(&self) {
        if let Some(engine) = self.0.get().and_then(Weak::upgrade) {
            engine.callers_idle();
        }
    }
}

fn runtime(threads: usize, idle: IdleHint) -> Result<Runtime, Failure> {
    let built = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("squall-worker")
        .on_thread_park(move || idle.give())
        .enable_all()
        .build();
    Ok(built.context("cannot start the threads that serve connections")?)
}
