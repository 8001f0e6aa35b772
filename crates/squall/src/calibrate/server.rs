//! The server that is measured: it lives as long as its standard input is open.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use squall_load::host::{cpus, files};
use squall_load::raw_server::RawServer;

use crate::cli::CalibrateServerArgs;
use crate::exit::{Exit, Failure};

/// Longest life: nobody needs a forgotten one.
const LIFE_MAX: Duration = Duration::from_secs(600);

/// Serves until standard input ends, and says on standard output where.
pub(crate) fn serve(args: &CalibrateServerArgs) -> Result<Exit, Failure> {
    files::raise();
    if let Some(cpu) = args.pin {
        cpus::pin_this_thread(&[cpu]).map_err(|error| Failure::new(Exit::Usage, error))?;
    }
    let server = RawServer::bind(args.listen)
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    let stop = stop_at_end_of_input()?;
    writeln!(io::stdout(), "http://{}/", server.address())
        .and_then(|()| io::stdout().flush())
        .context("cannot print the address")?;
    server.run(&stop, LIFE_MAX).context("cannot wait for connections")?;
    Ok(Exit::Done)
}

/// A switch that is set when whoever started this process is gone or done.
fn stop_at_end_of_input() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&stop);
    let watch = move || {
        let mut ignored = [0; 4096];
        let mut input = io::stdin().lock();
        // An input that cannot be read is as good as ended.
        while matches!(input.read(&mut ignored), Ok(1..)) {}
        switch.store(true, Ordering::Relaxed);
    };
    thread::Builder::new().spawn(watch).context("cannot start the thread that reads input")?;
    Ok(stop)
}
