//! From options to the configuration of the parts, and what cannot go together.

use std::thread;

use squall_server::ServerConfig;
use squall_server::access::{HostRule, OriginRule};
use squall_sqlite::{Durability, SqliteConfig};
use squall_stream::limits::StreamLimits;

use crate::cli::{self, ServeArgs};
use crate::exit::Failure;
use crate::serve::files;
use crate::value::ByteSize;

/// Refuses options that contradict each other or the machine.
pub(super) fn check(args: &ServeArgs, files_max: usize) -> Result<(), Failure> {
    let ServeArgs { listen, http, follow, storage, .. } = args;
    if !listen.is_loopback() && !listen.allow_anonymous {
        return Err(public_address(listen));
    }
    let event = ("--event-bytes-max", http.event_bytes_max);
    at_least(("--bodies-bytes-max", http.bodies_bytes_max), event)?;
    at_least(("--append-queue-bytes-max", storage.append_queue_bytes_max), event)?;
    let page = ("--page-bytes-max", follow.page_bytes_max);
    at_least(("--pages-bytes-max", follow.pages_bytes_max), page)?;
    let ring = ("--ring-bytes", follow.ring_bytes);
    at_least(("--ring-bytes-total", follow.ring_bytes_total), ring)?;
    let checkpoint = ("--wal-checkpoint-bytes", storage.wal_checkpoint_bytes);
    at_least(("--wal-bytes-max", storage.wal_bytes_max), checkpoint)?;
    connections_fit(args, files_max)
}

fn public_address(listen: &cli::ListenArgs) -> Failure {
    Failure::usage(format!(
        "{} is not a loopback address: whoever can reach it could read, append and delete, since \
         authentication comes in a later version. Listen on 127.0.0.1, or add --allow-anonymous \
         if that is what you want",
        listen.listen.ip()
    ))
}

fn at_least(
    (option, size): (&str, ByteSize),
    (within, part): (&str, ByteSize),
) -> Result<(), Failure> {
    if size >= part {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{option} is {size}, less than the {part} of {within}: make it at least as large"
    )))
}

fn connections_fit(args: &ServeArgs, files_max: usize) -> Result<(), Failure> {
    let most = files::connections_most(files_max);
    if let Some(connections) = args.http.connections_max.filter(|&asked| asked > most) {
        return Err(Failure::usage(format!(
            "--connections-max is {connections}, and the process may open {files_max} files: \
             make it at most {most}, or raise the limit (ulimit -n)"
        )));
    }
    let connections = connections_max(args, files_max);
    match args.follow.followers_max {
        Some(followers) if followers > connections => Err(Failure::usage(format!(
            "--followers-max is {followers}, more than the {connections} connections: make it at \
             most as many"
        ))),
        _ => Ok(()),
    }
}

fn connections_max(args: &ServeArgs, files_max: usize) -> usize {
    args.http.connections_max.unwrap_or_else(|| files::connections_default(files_max))
}

/// Threads that serve connections. What the process is pinned to counts, not the machine.
pub(super) fn threads(args: &ServeArgs) -> usize {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    args.process.threads.unwrap_or_else(cores)
}

/// The server's configuration. The options have been checked.
pub(super) fn server(args: &ServeArgs, files_max: usize) -> ServerConfig {
    let ServeArgs { listen, http, follow, process, .. } = args;
    let connections_max = connections_max(args, files_max);
    ServerConfig {
        hosts: HostRule { loopback_only: listen.is_loopback(), named: listen.hosts.clone() },
        // Each has been read once by the command line, so nothing is left to refuse.
        origins: OriginRule::parse(&listen.cors_origins).unwrap_or_default(),
        event_bytes_max: http.event_bytes_max.as_usize(),
        json_elements_max: http.json_elements_max,
        bodies_bytes_max: http.bodies_bytes_max.as_usize(),
        head_bytes_max: http.head_bytes_max.as_usize(),
        headers_max: http.headers_max,
        head_max: http.head_timeout,
        body_pause_max: http.body_timeout,
        idle_max: http.idle_timeout,
        write_max: http.write_timeout,
        connections_max,
        http2_streams_max: u32::try_from(http.http2_streams_max).unwrap_or(u32::MAX),
        followers_max: follow.followers_max.unwrap_or((connections_max / 2).max(1)),
        page_bytes_max: follow.page_bytes_max.as_usize(),
        pages_bytes_max: follow.pages_bytes_max.as_usize(),
        page_wait_max: follow.page_wait_max,
        ring_bytes_max: follow.ring_bytes.as_usize(),
        ring_bytes_total_max: follow.ring_bytes_total.as_usize(),
        heartbeat: follow.heartbeat,
        long_poll_max: follow.long_poll_timeout,
        sse_age_max: follow.sse_age_max,
        drain_max: process.drain,
    }
}

/// The store's configuration.
pub(super) fn sqlite(args: &ServeArgs) -> SqliteConfig {
    let ServeArgs { storage, http, .. } = args;
    let base = SqliteConfig::new(&storage.data);
    let idle = storage.producer_idle_max.as_millis();
    SqliteConfig {
        durability: match storage.durability {
            cli::Durability::Full => Durability::Full,
            cli::Durability::Normal => Durability::Normal,
        },
        limits: StreamLimits {
            json_elements_max: http.json_elements_max,
            producers_max: u32::try_from(storage.producers_max).unwrap_or(u32::MAX),
            producer_idle_max_ms: u64::try_from(idle).unwrap_or(u64::MAX),
        },
        append_queue_max: storage.append_queue_max,
        append_queue_bytes_max: storage.append_queue_bytes_max.as_usize(),
        batch_appends_max: storage.batch_appends_max,
        batch_bytes_max: storage.batch_bytes_max.as_usize(),
        readers: storage.readers.unwrap_or(base.readers),
        reader_queue_max: storage.reader_queue_max,
        read_max: storage.read_timeout,
        wal_checkpoint_bytes: storage.wal_checkpoint_bytes.0,
        wal_bytes_max: storage.wal_bytes_max.0,
        cached_streams_max: storage.cached_streams_max,
        newest_cache_bytes_max: storage.newest_cache_bytes.as_usize(),
        busy_timeout: storage.busy_timeout,
        ..base
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    const FILES: usize = 1_024;

    fn args(options: &[&str]) -> ServeArgs {
        let words = ["squall", "serve"].iter().chain(options);
        let Command::Serve(args) = Cli::try_parse_from(words).unwrap().command else {
            panic!("another command than serve");
        };
        *args
    }

    fn check_refused(options: &[&str], expected: &str) {
        let failure = check(&args(options), FILES).unwrap_err();
        let sentence = failure.error.to_string();
        assert!(sentence.contains(expected), "{options:?}: {sentence}");
    }

    /// Every number that an option sets.
    fn numbers(config: &SqliteConfig) -> Vec<u128> {
        let SqliteConfig { limits, .. } = config;
        let sizes = [
            limits.json_elements_max,
            config.append_queue_max,
            config.append_queue_bytes_max,
            config.batch_appends_max,
            config.batch_bytes_max,
            config.readers,
            config.reader_queue_max,
            config.cached_streams_max,
            config.newest_cache_bytes_max,
        ];
        let others = [
            limits.producers_max.into(),
            limits.producer_idle_max_ms.into(),
            config.read_max.as_millis(),
            config.wal_checkpoint_bytes.into(),
            config.wal_bytes_max.into(),
            config.busy_timeout.as_millis(),
        ];
        sizes.map(|size| size as u128).into_iter().chain(others).collect()
    }

    /// What the help prints as a default is what the parts were made with.
    #[test]
    fn the_defaults_are_those_of_the_parts() {
        let args = args(&[]);
        let connections_max = files::connections_default(FILES);
        let expected = ServerConfig {
            hosts: HostRule { loopback_only: true, named: Vec::new() },
            connections_max,
            followers_max: connections_max / 2,
            ..ServerConfig::default()
        };
        assert_eq!(format!("{:?}", server(&args, FILES)), format!("{expected:?}"));
        let expected = SqliteConfig::new("./squall-data");
        assert_eq!(numbers(&sqlite(&args)), numbers(&expected));
        assert_eq!(sqlite(&args).data_dir, expected.data_dir);
        assert_eq!(sqlite(&args).durability, expected.durability);
        assert!(check(&args, FILES).is_ok());
    }

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        check_refused(
            &["--event-bytes-max", "100MiB"],
            "--bodies-bytes-max is 64MiB, less than the 100MiB of --event-bytes-max",
        );
        check_refused(&["--append-queue-bytes-max", "1MiB"], "--event-bytes-max");
        check_refused(&["--pages-bytes-max", "1KiB"], "--page-bytes-max");
        check_refused(&["--ring-bytes-total", "512KiB"], "--ring-bytes");
        check_refused(&["--wal-bytes-max", "8MiB"], "--wal-checkpoint-bytes");
        check_refused(&["--connections-max", "1000"], "make it at most 960");
        check_refused(&["--followers-max", "1000"], "more than the 921 connections");
    }

    #[test]
    fn an_address_that_others_can_reach_has_to_be_asked_for() {
        for address in ["0.0.0.0:80", "[::]:80", "10.1.2.3:80", "[::ffff:10.1.2.3]:80"] {
            check_refused(&["--listen", address], "--allow-anonymous");
            let allowed = args(&["--listen", address, "--allow-anonymous"]);
            assert!(check(&allowed, FILES).is_ok());
            assert!(!server(&allowed, FILES).hosts.loopback_only);
        }
        for address in ["127.8.9.10:80", "[::1]:80", "[::ffff:127.0.0.1]:80"] {
            assert!(check(&args(&["--listen", address]), FILES).is_ok(), "{address}");
        }
    }

    #[test]
    fn lists_may_be_repeated_or_separated_by_commas() {
        let args = args(&[
            "--host",
            "a.example,b.example",
            "--host",
            "c.example",
            "--cors-origin",
            "https://a.example,https://b.example:8443",
        ]);
        assert_eq!(server(&args, FILES).hosts.named, ["a.example", "b.example", "c.example"]);
        assert_eq!(args.listen.cors_origins.len(), 2);
        assert!(!server(&args, FILES).origins.allows_any());
    }
}
