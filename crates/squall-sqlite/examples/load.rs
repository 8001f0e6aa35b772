//! Loads a store without HTTP, and says what an append and a read cost.
//!
//! `cargo run --release -p squall-sqlite --example load -- append DIRECTORY CLIENTS STREAMS
//! BYTES SECONDS` keeps that many appends in flight; `... -- read DIRECTORY EVENT_BYTES
//! TOTAL_MIB` fills one stream and reads it back in pages; `... -- newest DIRECTORY`
//! asks for the newest event in a loop. Options that are tried out come from the
//! environment-free trailing arguments `checkpoint=BYTES`, `page=BYTES`, `normal`.
#![expect(clippy::print_stdout, reason = "a measurement prints its figures")]
#![expect(clippy::unwrap_used, reason = "a measurement that fails may panic")]

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use squall_sqlite::{Durability, SqliteConfig, SqliteStore};
use squall_stream::observer::{Change, Health, StoreObserver};
use squall_stream::request::{Append, Read, ReadTarget};
use squall_stream::store::Lookup;
use squall_stream::{ContentType, ReadFrom, StreamName, StreamStore};

struct Nobody;

impl StoreObserver for Nobody {
    fn committed(&self, _changes: &[Change]) {}
    fn health_changed(&self, health: &Health) {
        println!("{health:?}");
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| -> u64 { arguments[at].parse().unwrap() };
    let mut config = SqliteConfig::new(&arguments[1]);
    for option in &arguments {
        match option.split_once('=') {
            Some(("checkpoint", bytes)) => config.wal_checkpoint_bytes = bytes.parse().unwrap(),
            Some(("page", bytes)) => config.page_size = bytes.parse().unwrap(),
            Some(("batch", appends)) => config.batch_appends_max = appends.parse().unwrap(),
            _ if option == "normal" => config.durability = Durability::Normal,
            _ => {}
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let store = SqliteStore::open(config, Arc::new(Nobody)).unwrap();
    match arguments[0].as_str() {
        "append" => {
            let [clients, streams, bytes, seconds] = [2, 3, 4, 5].map(number);
            let seconds = Duration::from_secs(seconds);
            runtime.block_on(appends(&store, clients, streams, bytes, seconds));
        }
        "read" => runtime.block_on(reads(&store, number(2), number(3))),
        "newest" => newest(&store),
        other => panic!("{other} is no measurement"),
    }
    let started = Instant::now();
    runtime.block_on(store.shut_down()).unwrap();
    println!("shut down in {:?}", started.elapsed());
}

fn name(at: u64) -> StreamName {
    StreamName::parse(&format!("load/{at}")).unwrap()
}

fn append(at: u64, payload: Bytes) -> Append {
    let mut append = Append::new(name(at), ContentType::text_plain(), vec![payload]);
    append.create = true;
    append
}

async fn appends(
    store: &Arc<SqliteStore>,
    clients: u64,
    streams: u64,
    bytes: u64,
    length: Duration,
) {
    let before = cpu_by_thread();
    let started = Instant::now();
    let tasks: Vec<_> = (0..clients)
        .map(|client| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                let payload = Bytes::from(vec![b'x'; usize::try_from(bytes).unwrap()]);
                let mut times = Vec::new();
                let mut turn = client;
                while started.elapsed() < length {
                    let begun = Instant::now();
                    store.append(append(turn % streams, payload.clone())).await.unwrap();
                    times.push(begun.elapsed());
                    turn += clients + 1;
                }
                times
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.unwrap());
    }
    times.sort_unstable();
    let took = started.elapsed().as_secs_f64();
    let appends = times.len();
    let at = |per_mille: usize| times[(appends - 1) * per_mille / 1_000];
    let gauges = store.gauges();
    println!(
        "{appends} appends, {:.0}/s, {:.1} a batch, p50 {:?} p99 {:?} p99.9 {:?} max {:?}, {} checkpoints",
        appends as f64 / took,
        gauges.batched_changes_total as f64 / gauges.batches_total as f64,
        at(500),
        at(990),
        at(999),
        at(1_000),
        gauges.checkpoints_total,
    );
    for ((thread, before), (_, after)) in before.iter().zip(cpu_by_thread()) {
        let micros = (after - before) as f64 / 1_000.0 / appends as f64;
        println!("  {thread}: {micros:.2} µs of CPU an append");
    }
}

async fn reads(store: &Arc<SqliteStore>, event_bytes: u64, total_mib: u64) {
    let payload = Bytes::from(vec![b'x'; usize::try_from(event_bytes).unwrap()]);
    let events = total_mib * 1024 * 1024 / event_bytes;
    let per_append = (1024 * 1024 / event_bytes).max(1);
    let filled = store.gauges().appended_events_total;
    for _ in 0..events.saturating_sub(filled).div_ceil(per_append) {
        let mut append = append(0, payload.clone());
        append.events = vec![payload.clone(); usize::try_from(per_append).unwrap()];
        store.append(append).await.unwrap();
    }
    for bytes_max in [64 * 1024, 256 * 1024, 1024 * 1024] {
        let before = cpu_by_thread();
        let started = Instant::now();
        let (mut from, mut bytes, mut pages) = (ReadFrom::Start, 0, 0_u32);
        loop {
            let target = ReadTarget::Name(name(0));
            let page = store.read(Read { target, from, bytes_max }).await.unwrap();
            bytes += page.data.len();
            pages += 1;
            from = ReadFrom::At(page.next);
            if page.up_to_date() {
                break;
            }
        }
        let took = started.elapsed().as_secs_f64();
        let cpu: u64 = cpu_by_thread().iter().zip(&before).map(|(a, b)| a.1 - b.1).sum();
        println!(
            "pages of {bytes_max}: {bytes} bytes in {pages} pages, {:.2} GB/s, {:.2} GB a CPU second",
            bytes as f64 / 1e9 / took,
            bytes as f64 / cpu as f64,
        );
    }
}

fn newest(store: &Arc<SqliteStore>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(store.append(append(0, Bytes::from(vec![b'x'; 100])))).unwrap();
    let name = name(0);
    for _ in 0..2 {
        if let Lookup::Later(newest) = store.newest(&name) {
            println!("{:?} loaded", runtime.block_on(newest).unwrap().unwrap().payload.len());
        }
    }
    let started = Instant::now();
    for _ in 0..10_000_000 {
        let Lookup::Ready(Ok(Some(_))) = store.newest(&name) else { panic!("not in memory") };
    }
    println!("{:.1} ns a look-up", started.elapsed().as_nanos() as f64 / 1e7);
}

/// Nanoseconds that each thread has run, by the kernel's own account.
fn cpu_by_thread() -> Vec<(String, u64)> {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let mut threads: Vec<_> = tasks
        .map(|task| {
            let path = task.unwrap().path();
            let name = fs::read_to_string(path.join("comm")).unwrap().trim().to_owned();
            let run = fs::read_to_string(path.join("schedstat")).unwrap();
            let nanos = run.split(' ').next().unwrap().parse().unwrap();
            (path, name, nanos)
        })
        .collect();
    threads.sort();
    threads.into_iter().map(|(_, name, nanos)| (name, nanos)).collect()
}
