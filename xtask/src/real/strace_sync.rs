//! The ack and the sync, seen from outside: with `strace` on the release binary.

use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use squall_testkit::crash::{ConnectionLog, Outcome as Fate};
use squall_testkit::http::Connection;

use super::setup::{Fresh, append, compare_all, create, is_installed};
use super::trace::{Moment, Trace};
use crate::ci::{Outcome, Programs};

/// Appends of the serial run.
const APPENDS: usize = 50;
/// Appends of one connection that must meet the injected fault.
const APPENDS_MAX: usize = 500;
/// Exit code of a server whose storage failed.
const STORAGE_FAILED: i32 = 6;
/// Longest wait for a server whose storage failed to be gone.
const EXIT_MAX: Duration = Duration::from_secs(15);
const TARGET: &str = "/v1/stream/synced";

/// Faults: the calls that fail, which of their uses does, and the connections at work.
const FAULTS: [(&str, u32, u32); 4] = [
    ("fdatasync", 1, 1),
    ("fdatasync", 5, 1),
    ("fdatasync,fsync", 2, 1),
    ("fdatasync,fsync", 3, 8),
];

/// Traces a serial run, then lets single syncs fail.
///
/// # Errors
/// A reply came before its sync, a failed sync was not the end, or the server could not
/// be run.
pub fn run(programs: &Programs) -> Result<Outcome> {
    if !is_installed("strace") {
        return Ok(Outcome::Skipped("strace is not installed".to_owned()));
    }
    serial(programs)?;
    for (calls, which, connections) in FAULTS {
        fault(programs, calls, which, connections)
            .with_context(|| format!("{calls} number {which}, {connections} connections"))?;
    }
    Ok(Outcome::Passed)
}

/// One append after the other: each reply stands behind a sync of its own.
fn serial(programs: &Programs) -> Result<()> {
    let mut fresh = Fresh::start(&programs.squall)?;
    let mut connection = Connection::open(fresh.address())?;
    create(&mut connection, TARGET)?;
    let trace = Trace::attach(fresh.server.id(), &[])?;
    let mut log = ConnectionLog::default();
    for _ in 0..APPENDS {
        let response = append(&mut connection, TARGET, &mut log)?;
        let status = response.status;
        ensure!(matches!(status, 200 | 204), "an append: {status} {}", response.text());
    }
    let moments = trace.finish()?;
    judge(&moments)?;
    let count = |data| {
        let syncs = moments
            .iter()
            .filter(|moment| matches!(moment, Moment::Sync { is_data, .. } if *is_data == data));
        syncs.count()
    };
    let replies = moments.iter().filter(|moment| matches!(moment, Moment::Reply { .. })).count();
    println!(
        "{APPENDS} appends: {} fdatasync, {} fsync, {replies} replies",
        count(true),
        count(false)
    );
    ensure!(replies == APPENDS, "the trace shows {replies} replies to {APPENDS} appends");
    ensure!(count(true) >= APPENDS, "appends sync with something else than fdatasync");
    fresh.stop()
}

/// Lets one sync fail under load: the server ends with its own code, says 2xx to nothing
/// that was not synced, and has every acked event after a restart.
fn fault(programs: &Programs, calls: &str, which: u32, connections: u32) -> Result<()> {
    let mut fresh = Fresh::start(&programs.squall)?;
    create(&mut Connection::open(fresh.address())?, TARGET)?;
    let inject = format!("inject={calls}:error=EIO:when={which}");
    let trace = Trace::attach(fresh.server.id(), &["-e", &inject])?;
    let logs = append_until_refused(&fresh, connections);
    let status = fresh.server.wait(EXIT_MAX).context("the server outlives a failed sync")?;
    let stderr = fresh.server.stderr();
    ensure!(status.code() == Some(STORAGE_FAILED), "ended with {status}, not 6:\n{stderr}");
    let moments = trace.finish()?;
    let has_failed = moments.iter().any(|m| matches!(m, Moment::Sync { is_done: false, .. }));
    ensure!(has_failed, "the trace shows no failed sync");
    if connections == 1 {
        // With several, the reply to an earlier batch may be on its way when a sync fails.
        judge(&moments)?;
    }
    let acked = logs.iter().flat_map(|log| log.outcomes.values());
    let acked = acked.filter(|fate| **fate == Fate::Acked).count();
    println!("{calls} number {which} failed after {acked} acks: exit code 6");
    fresh.restart(&programs.squall)?;
    compare_all(fresh.address(), TARGET, &logs)?;
    fresh.stop()
}

/// Appends on each connection until something but a 2xx comes, or nothing.
fn append_until_refused(fresh: &Fresh, connections: u32) -> Vec<ConnectionLog> {
    let address = fresh.address();
    let work = |connection| {
        let mut log = ConnectionLog { connection, ..ConnectionLog::default() };
        if let Ok(mut socket) = Connection::open(address) {
            for _ in 0..APPENDS_MAX {
                match append(&mut socket, TARGET, &mut log) {
                    Ok(response) if matches!(response.status, 200 | 204) => {}
                    _ => break,
                }
            }
        }
        log
    };
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..connections).map(|connection| scope.spawn(move || work(connection))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

/// Between a request and its 2xx lies a sync that returned 0, and none before it that did
/// not: for one connection with one request in flight.
fn judge(moments: &[Moment]) -> Result<()> {
    let mut append = 0;
    let mut is_synced = false;
    let mut has_failed = false;
    for moment in moments {
        match *moment {
            Moment::Request => {
                append += 1;
                is_synced = false;
            }
            Moment::Sync { is_done: true, .. } => is_synced |= !has_failed,
            Moment::Sync { is_done: false, .. } => has_failed = true,
            Moment::Reply { is_success: true } => {
                ensure!(is_synced, "append {append}: 2xx without a sync before it");
            }
            Moment::Reply { is_success: false } => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: Moment = Moment::Request;
    const SYNCED: Moment = Moment::Sync { is_data: true, is_done: true };
    const FAILED: Moment = Moment::Sync { is_data: true, is_done: false };
    const ACK: Moment = Moment::Reply { is_success: true };
    const REFUSAL: Moment = Moment::Reply { is_success: false };

    fn check(moments: &[Moment], is_right: bool) {
        assert_eq!(judge(moments).is_ok(), is_right, "{moments:?}");
    }

    #[test]
    fn an_ack_needs_a_sync_of_its_own() {
        check(&[REQUEST, SYNCED, ACK, REQUEST, SYNCED, ACK], true);
        check(&[REQUEST, SYNCED, ACK, REQUEST, ACK], false);
        check(&[REQUEST, ACK, SYNCED], false);
        check(&[REQUEST, REFUSAL], true);
    }

    #[test]
    fn nothing_is_acked_after_a_failed_sync() {
        check(&[REQUEST, FAILED, REFUSAL], true);
        check(&[REQUEST, FAILED, ACK], false);
        // Trying again is no cure: the kernel may have dropped the pages.
        check(&[REQUEST, FAILED, SYNCED, ACK], false);
        // A failed checkpoint does not undo the commit before it.
        check(&[REQUEST, SYNCED, FAILED, ACK], true);
        check(&[REQUEST, SYNCED, FAILED, ACK, REQUEST, SYNCED, ACK], false);
    }
}
