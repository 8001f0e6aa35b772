//! The binary as a process: what only a real `squall` can show.
#![expect(clippy::unwrap_used, reason = "a test ends where its ground is not as it should be")]

mod command;

mod help;

mod readme;

mod refusals;

mod start;

mod shutdown;

mod storage_failure;

mod crash;

mod memory;

mod followers;

mod stalled_reader;

mod hostile;

mod bench;

mod bench_refusals;

mod bench_exit;

mod bench_followers;

mod calibrate;
