//! A run takes the same memory however long it is.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use squall_load::raw_server::RawServer;
use squall_load::spec::LoadSpec;

use crate::support::{assert_all_ok, load, run};

/// Longest time that the server serves.
const LIMIT: Duration = Duration::from_secs(120);

/// What tables and allocators may take beyond the first requests.
const GROWTH_BYTES_MAX: u64 = 5 << 20;

/// Runs `the_memory_of_a_run` in a process of its own: other tests take memory too.
#[test]
fn a_long_run_takes_no_more_memory_than_a_short_one() {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::the_memory_of_a_run", "--ignored", "--quiet"])
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}

#[test]
#[ignore = "is run by the test above, alone in its process"]
fn the_memory_of_a_run() {
    let server = RawServer::bind(([127, 0, 0, 1], 0).into()).unwrap();
    let url = format!("http://{}/", server.address());
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| server.run(&stop, LIMIT).unwrap());
        let rss_bytes = |count| {
            let record = run(&LoadSpec { connections: 8, pipeline: 16, ..load(&url, count) });
            assert_all_ok(&record, count);
            record.generator.rss_bytes
        };
        let short = rss_bytes(50_000);
        let long = rss_bytes(300_000);
        stop.store(true, Ordering::Relaxed);
        assert!(long < short + GROWTH_BYTES_MAX, "{short} bytes, then {long}");
    });
}
