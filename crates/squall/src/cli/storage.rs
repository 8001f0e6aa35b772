//! Where the data lies, what an acknowledgement promises, and the limits of the engine.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use crate::value::{ByteSize, bytes, count, duration};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// What an acknowledged append survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Durability {
    /// A power cut: the log is synced before the answer.
    Full,
    /// A crash of the process, not of the machine: the log is synced now and then.
    Normal,
}

/// Options of the store.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StorageArgs {
    /// Directory of the database; made if there is none. One server at a time may use it.
    #[arg(long, env = "SQUALL_DATA", value_name = "DIRECTORY", default_value = "./squall-data")]
    pub(crate) data: PathBuf,

    /// What an acknowledged append survives.
    #[arg(long, env = "SQUALL_DURABILITY", value_name = "WHAT", default_value = "full")]
    pub(crate) durability: Durability,

    /// Appends that may wait for a commit. More are answered 503.
    #[arg(long, env = "SQUALL_APPEND_QUEUE_MAX", value_name = "COUNT", default_value = "4096")]
    #[arg(value_parser = count(1, 1_000_000))]
    pub(crate) append_queue_max: usize,

    /// Bytes of the appends that may wait for a commit. More are answered 503.
    #[arg(long, env = "SQUALL_APPEND_QUEUE_BYTES_MAX", value_name = "SIZE")]
    #[arg(default_value = "64MiB", value_parser = bytes(1, TIB))]
    pub(crate) append_queue_bytes_max: ByteSize,

    /// Appends that are committed together.
    #[arg(long, env = "SQUALL_BATCH_APPENDS_MAX", value_name = "COUNT", default_value = "1024")]
    #[arg(value_parser = count(1, 1_000_000))]
    pub(crate) batch_appends_max: usize,

    /// Bytes that are committed together; a single append may be larger.
    #[arg(long, env = "SQUALL_BATCH_BYTES_MAX", value_name = "SIZE", default_value = "8MiB")]
    #[arg(value_parser = bytes(KIB, GIB))]
    pub(crate) batch_bytes_max: ByteSize,

    /// Producers that a stream remembers. One more is answered 429.
    #[arg(long, env = "SQUALL_PRODUCERS_MAX", value_name = "COUNT", default_value = "10000")]
    #[arg(value_parser = count(1, 1_000_000))]
    pub(crate) producers_max: usize,

    /// Time without an append after which a producer may be forgotten.
    #[arg(long, env = "SQUALL_PRODUCER_IDLE_MAX", value_name = "TIME", default_value = "7days")]
    #[arg(value_parser = duration(SECOND, 3_650 * DAY))]
    pub(crate) producer_idle_max: Duration,

    /// Threads that read. By default one for each core, at least 2 and at most 4.
    #[arg(long, env = "SQUALL_READERS", value_name = "COUNT", value_parser = count(1, 256))]
    pub(crate) readers: Option<usize>,

    /// Reads that may wait for one of them. More are answered 503.
    #[arg(long, env = "SQUALL_READER_QUEUE_MAX", value_name = "COUNT", default_value = "1024")]
    #[arg(value_parser = count(1, 1_000_000))]
    pub(crate) reader_queue_max: usize,

    /// Longest time for one read; then it is interrupted.
    #[arg(long, env = "SQUALL_READ_TIMEOUT", value_name = "TIME", default_value = "1s")]
    #[arg(value_parser = duration(10 * MILLISECOND, 60 * SECOND))]
    pub(crate) read_timeout: Duration,

    /// Streams whose state is kept in memory, least recently used ones leaving first.
    #[arg(long, env = "SQUALL_CACHED_STREAMS_MAX", value_name = "COUNT", default_value = "16384")]
    #[arg(value_parser = count(1, 10_000_000))]
    pub(crate) cached_streams_max: usize,

    /// Bytes of newest events kept in memory. 0 keeps none.
    #[arg(long, env = "SQUALL_NEWEST_CACHE_BYTES", value_name = "SIZE", default_value = "64MiB")]
    #[arg(value_parser = bytes(0, TIB))]
    pub(crate) newest_cache_bytes: ByteSize,

    /// Bytes of the write-ahead log after which it is copied into the database.
    #[arg(long, env = "SQUALL_WAL_CHECKPOINT_BYTES", value_name = "SIZE", default_value = "16MiB")]
    #[arg(value_parser = bytes(64 * KIB, TIB))]
    pub(crate) wal_checkpoint_bytes: ByteSize,

    /// Bytes of the write-ahead log after which appends are answered 503, because another
    /// program's read keeps it from being copied.
    #[arg(long, env = "SQUALL_WAL_BYTES_MAX", value_name = "SIZE", default_value = "1GiB")]
    #[arg(value_parser = bytes(MIB, TIB))]
    pub(crate) wal_bytes_max: ByteSize,

    /// Longest time that an append waits for another program that holds the write lock.
    #[arg(long, env = "SQUALL_BUSY_TIMEOUT", value_name = "TIME", default_value = "5s")]
    #[arg(value_parser = duration(MILLISECOND, 60 * SECOND))]
    pub(crate) busy_timeout: Duration,
}
