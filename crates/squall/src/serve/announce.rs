//! What the server says of itself: its limits in the log, one line on standard output, and
//! how it ended.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use squall_server::{Ended, ServerConfig};
use squall_sqlite::SqliteConfig;
use tracing::info;

use crate::cli::{ServeArgs, VERSION};
use crate::exit::{Exit, Failure};
use crate::serve::config;

/// Logs versions and the limits that are in effect, one line for each theme.
pub(super) fn limits(
    args: &ServeArgs,
    server: &ServerConfig,
    store: &SqliteConfig,
    files_max: usize,
) {
    let threads = config::threads(args);
    info!(version = %*VERSION, process = std::process::id(), threads, files_max, "starting");
    info!(
        listen = %args.listen.listen,
        allow_anonymous = args.listen.allow_anonymous,
        cors_origins = ?args.listen.cors_origins,
        hosts = ?args.listen.hosts,
        "listening"
    );
    storage(store);
    requests(server);
    reading(server);
}

fn storage(store: &SqliteConfig) {
    info!(
        data = %store.data_dir.display(),
        durability = ?store.durability,
        append_queue_max = store.append_queue_max,
        append_queue_bytes_max = store.append_queue_bytes_max,
        batch_appends_max = store.batch_appends_max,
        batch_bytes_max = store.batch_bytes_max,
        producers_max = store.limits.producers_max,
        producer_idle_max_ms = store.limits.producer_idle_max_ms,
        "limits of appends"
    );
    info!(
        readers = store.readers,
        reader_queue_max = store.reader_queue_max,
        read_timeout = ?store.read_max,
        cached_streams_max = store.cached_streams_max,
        newest_cache_bytes = store.newest_cache_bytes_max,
        wal_checkpoint_bytes = store.wal_checkpoint_bytes,
        wal_bytes_max = store.wal_bytes_max,
        busy_timeout = ?store.busy_timeout,
        "limits of the store"
    );
}

fn requests(server: &ServerConfig) {
    info!(
        event_bytes_max = server.event_bytes_max,
        json_elements_max = server.json_elements_max,
        bodies_bytes_max = server.bodies_bytes_max,
        head_bytes_max = server.head_bytes_max,
        headers_max = server.headers_max,
        "limits of requests"
    );
    info!(
        connections_max = server.connections_max,
        http2_streams_max = server.http2_streams_max,
        head_timeout = ?server.head_max,
        body_timeout = ?server.body_pause_max,
        idle_timeout = ?server.idle_max,
        write_timeout = ?server.write_max,
        drain = ?server.drain_max,
        "limits of connections"
    );
}

fn reading(server: &ServerConfig) {
    info!(
        followers_max = server.followers_max,
        ring_bytes = server.ring_bytes_max,
        ring_bytes_total = server.ring_bytes_total_max,
        heartbeat = ?server.heartbeat,
        long_poll_timeout = ?server.long_poll_max,
        sse_age_max = ?server.sse_age_max,
        page_bytes_max = server.page_bytes_max,
        pages_bytes_max = server.pages_bytes_max,
        page_wait_max = ?server.page_wait_max,
        "limits of reading and following"
    );
}

/// Prints the one line that others wait for: appends are accepted.
///
/// Whoever started the server may have closed the pipe; that is no reason to end.
pub(super) fn ready(address: SocketAddr, data: &Path) {
    let version = env!("CARGO_PKG_VERSION");
    let data = data.display();
    let line = format!("squall {version} is listening on http://{address}, streams in {data}\n");
    let mut stdout = io::stdout().lock();
    if let Err(error) = stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()) {
        tracing::warn!(%error, "cannot print the ready line");
    }
}

/// The exit code for how it ended, or the sentence about what went wrong.
pub(super) fn ended(ended: Ended, drain_max: Duration) -> Result<Exit, Failure> {
    match ended {
        Ended::Drained => {
            info!("everything was finished");
            Ok(Exit::Done)
        }
        Ended::Cut { connections } => {
            let limit = humantime::format_duration(drain_max);
            let were = if connections == 1 { "connection was" } else { "connections were" };
            Err(Failure::new(
                Exit::Cut,
                anyhow!(
                    "{connections} {were} still open after {limit} and cut; all data is stored"
                ),
            ))
        }
        Ended::Broken { part } => {
            let error = anyhow!("the {part} stopped by itself, which is a bug; the log says more");
            Err(Failure::new(Exit::Other, error))
        }
        Ended::StoreFailed { reason } => {
            Err(Failure::new(Exit::StorageFailed, anyhow!("the storage failed: {reason}")))
        }
    }
}
