//! Logging: to standard error, as text or JSON, panics included.

use std::io::{self, IsTerminal};
use std::panic::PanicHookInfo;
use std::thread;

use tracing_subscriber::EnvFilter;

use crate::cli::{LogFormat, ProcessArgs};
use crate::exit::Exit;

/// Threads of ours without which the process is no use.
const VITAL_THREADS: [&str; 2] = ["main", crate::signals::THREAD];

/// Logs from here on as `args` say.
pub(super) fn start(args: &ProcessArgs) {
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&args.log))
        .with_ansi(io::stderr().is_terminal())
        // A log that cannot be written, on a full disk or for a reader that left, must not
        // end the process; saying so on the same standard error would.
        .log_internal_errors(false)
        .with_writer(io::stderr);
    match args.log_format {
        LogFormat::Text => subscriber.init(),
        LogFormat::Json => subscriber.json().init(),
    }
    std::panic::set_hook(Box::new(panicked));
}

/// A panic is a line of the log like any other. One in a connection's task ends that
/// connection, one in the engine is reported as the store's failure; one in a thread that
/// nobody watches must not leave a process behind that does nothing.
fn panicked(info: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    let message = info.payload_as_str().unwrap_or("no message");
    let location = info.location().map(ToString::to_string).unwrap_or_default();
    let backtrace = std::backtrace::Backtrace::capture();
    tracing::error!(thread, location, %backtrace, "panic: {message}");
    if VITAL_THREADS.contains(&thread) {
        Exit::Other.now();
    }
}
