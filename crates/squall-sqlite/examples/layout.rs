//! Compares ways to lay events out in SQLite: what a commit costs, in time and in pages.
//!
//! `cargo run --release -p squall-sqlite --example layout -- DIRECTORY [COMMITS]` writes
//! batches of 64 rows of 100 bytes over one and over 100 streams, with the log synced at
//! each commit and a checkpoint each 4 MiB, and prints medians.
#![expect(clippy::print_stdout, reason = "a measurement prints its figures")]
#![expect(clippy::unwrap_used, reason = "a measurement that fails may panic")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

const BATCH: i64 = 64;

/// Rows in the order of their appends, found through an index beside them.
const ROWS_AND_INDEX: &str = "
CREATE TABLE events (seq INTEGER PRIMARY KEY, stream_id INTEGER NOT NULL,
    end_position INTEGER NOT NULL, appended_at INTEGER NOT NULL, payload BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX events_by_position ON events (stream_id, end_position);";

/// Rows in the order of their streams: one tree, no index.
const CLUSTERED: &str = "
CREATE TABLE events (stream_id INTEGER NOT NULL, end_position INTEGER NOT NULL,
    appended_at INTEGER NOT NULL, payload BLOB NOT NULL,
    PRIMARY KEY (stream_id, end_position)) STRICT, WITHOUT ROWID;";

/// Rows in the order of their appends, found through a table that is brought up to date
/// in portions of so many rows.
const IN_PORTIONS: &str = "
CREATE TABLE events (seq INTEGER PRIMARY KEY, stream_id INTEGER NOT NULL,
    end_position INTEGER NOT NULL, appended_at INTEGER NOT NULL, payload BLOB NOT NULL) STRICT;
CREATE TABLE positions (stream_id INTEGER NOT NULL, end_position INTEGER NOT NULL,
    seq INTEGER NOT NULL, PRIMARY KEY (stream_id, end_position)) STRICT, WITHOUT ROWID;
CREATE TABLE indexed (id INTEGER PRIMARY KEY, up_to INTEGER NOT NULL) STRICT;
INSERT INTO indexed VALUES (1, 0);";

/// Rows in the order of their appends, found by a number made of stream and position
/// in no way: the floor, which cannot be read by stream.
const ROWS_ALONE: &str = "
CREATE TABLE events (seq INTEGER PRIMARY KEY, stream_id INTEGER NOT NULL,
    end_position INTEGER NOT NULL, appended_at INTEGER NOT NULL, payload BLOB NOT NULL) STRICT;";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let commits = arguments.get(1).map_or(2_000, |commits| commits.parse().unwrap());
    println!("| layout | page | streams | commit p50 | p99 | µs of CPU a row | pages a commit |");
    println!("|---|---|---|---|---|---|---|");
    for streams in [1, 100, 1_000] {
        for (name, schema, portion) in [
            ("rows and index", ROWS_AND_INDEX, 0),
            ("clustered", CLUSTERED, 0),
            ("rows alone", ROWS_ALONE, 0),
            ("rows, index by 256", IN_PORTIONS, 256),
            ("rows, index by 512", IN_PORTIONS, 512),
            ("rows, index by 1024", IN_PORTIONS, 1_024),
            ("rows, index by 4096", IN_PORTIONS, 4_096),
        ] {
            for page_size in [4_096, 8_192] {
                let layout = Layout { name, schema, portion, page_size, streams };
                measure(Path::new(&arguments[0]), &layout, commits);
            }
        }
    }
}

struct Layout {
    name: &'static str,
    schema: &'static str,
    /// Rows after which the index is brought up to date; none if it always is.
    portion: i64,
    page_size: u32,
    streams: i64,
}

fn measure(directory: &Path, layout: &Layout, commits: usize) {
    let Layout { name, schema, portion, page_size, streams } = *layout;
    fs::remove_dir_all(directory).ok();
    fs::create_dir_all(directory).unwrap();
    let mut connection = Connection::open(directory.join("layout.db")).unwrap();
    connection.pragma_update(None, "page_size", page_size).unwrap();
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.pragma_update(None, "synchronous", "FULL").unwrap();
    connection.pragma_update(None, "cache_size", -16_384).unwrap();
    connection.execute_batch(schema).unwrap();
    let pages = Arc::new(AtomicI64::new(0));
    let seen = Arc::clone(&pages);
    let hook = move |_: &mut rusqlite::hooks::Wal, pages| {
        seen.store(i64::from(pages), Ordering::Relaxed);
        Ok(())
    };
    connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    connection.wal_hook(Some(hook)).unwrap();
    let mut ends = vec![0; usize::try_from(streams).unwrap()];
    let (mut turn, mut written, mut before) = (0_i64, 0, 0);
    let mut times = Vec::with_capacity(commits);
    let mut cpu = 0;
    for _ in 0..commits {
        let (started, cpu_before) = (Instant::now(), cpu_nanos());
        commit(&connection, &mut ends, &mut turn, streams, portion);
        times.push(started.elapsed());
        cpu += cpu_nanos() - cpu_before;
        let now = pages.load(Ordering::Relaxed);
        written += if now >= before { now - before } else { now };
        before = now;
        if now * i64::from(page_size) > 4 << 20 {
            connection.execute_batch("PRAGMA wal_checkpoint(RESTART)").ok();
            before = 0;
        }
    }
    times.sort_unstable();
    let at = |per_mille: usize| -> Duration { times[(commits - 1) * per_mille / 1_000] };
    let rows = commits as f64 * BATCH as f64;
    println!(
        "| {name} | {page_size} | {streams} | {:.2?} | {:.2?} | {:.2} | {:.1} |",
        at(500),
        at(990),
        cpu as f64 / 1e3 / rows,
        written as f64 / commits as f64,
    );
}

fn commit(connection: &Connection, ends: &mut [i64], turn: &mut i64, streams: i64, portion: i64) {
    connection.prepare_cached("BEGIN IMMEDIATE").unwrap().execute([]).unwrap();
    let text = "INSERT INTO events (stream_id, end_position, appended_at, payload) \
                VALUES (?1, ?2, ?3, ?4)";
    let mut insert = connection.prepare_cached(text).unwrap();
    for _ in 0..BATCH {
        // Streams in an order that is neither sorted nor the same in each batch.
        *turn += 1;
        let stream = *turn * 7_919 % streams;
        let end = &mut ends[usize::try_from(stream).unwrap()];
        *end += 100;
        insert.execute(params![stream, *end, 1_800_000_000_000_i64, [b'x'; 100]]).unwrap();
    }
    if portion > 0 && *turn % portion == 0 {
        let text = "INSERT INTO positions SELECT stream_id, end_position, seq FROM events \
                    WHERE seq > (SELECT up_to FROM indexed) ORDER BY stream_id, end_position";
        connection.prepare_cached(text).unwrap().execute([]).unwrap();
        let text = "UPDATE indexed SET up_to = (SELECT max(seq) FROM events)";
        connection.prepare_cached(text).unwrap().execute([]).unwrap();
    }
    connection.prepare_cached("COMMIT").unwrap().execute([]).unwrap();
}

/// Time that this thread has run, by the kernel's own account.
fn cpu_nanos() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}
