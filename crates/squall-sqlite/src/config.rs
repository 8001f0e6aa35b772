//! What the person running a store may set, with the defaults.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use squall_stream::UnixMillis;
use squall_stream::instant::Clock;
use squall_stream::limits::StreamLimits;

const MIB: usize = 1024 * 1024;

/// What an acknowledgement promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The change survives a power cut: the write-ahead log is synced before the answer.
    #[default]
    Full,
    /// The change survives a crash of the process, not one of the machine: the log is
    /// synced at checkpoints only.
    Normal,
}

/// The machine's wall clock.
#[must_use]
pub fn system_clock() -> Clock {
    Arc::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |since| since.as_millis());
        UnixMillis(u64::try_from(millis).unwrap_or(u64::MAX))
    })
}

/// Everything that a store is opened with.
#[derive(Clone)]
pub struct SqliteConfig {
    /// The directory that holds the database; made if there is none.
    pub data_dir: PathBuf,
    /// What an acknowledgement promises.
    pub durability: Durability,
    /// Limits of the domain.
    pub limits: StreamLimits,
    /// Changes that may wait for a commit before more are refused.
    pub append_queue_max: usize,
    /// Payload bytes that may wait for a commit before more are refused.
    pub append_queue_bytes_max: usize,
    /// Changes in one transaction.
    pub batch_appends_max: usize,
    /// Payload bytes in one transaction; a single larger change is still taken.
    pub batch_bytes_max: usize,
    /// Threads that read, each with a connection of its own.
    pub readers: usize,
    /// Reads that may wait for a reader before more are refused.
    pub reader_queue_max: usize,
    /// Longest time that one read may take.
    pub read_max: Duration,
    /// Bytes of the write-ahead log after which it is checkpointed between batches.
    pub wal_checkpoint_bytes: u64,
    /// Bytes of the write-ahead log after which appends are refused until an outside
    /// reader lets go of it.
    pub wal_bytes_max: u64,
    /// Stream states held in memory by the committer.
    pub cached_streams_max: usize,
    /// Bytes of newest events held in memory.
    pub newest_cache_bytes_max: usize,
    /// Longest wait for another process that holds the write lock.
    pub busy_timeout: Duration,
    /// How often trouble that passes is looked at again, and expired streams are swept.
    pub tick: Duration,
    /// Pages of a newly made database, in bytes: a power of two from 512 to 65,536.
    pub page_size: u32,
    /// Most pages that the database may have. Set by tests of a full disk.
    pub max_page_count: Option<u32>,
    /// Where stored instants come from.
    pub clock: Clock,
}

impl SqliteConfig {
    /// The defaults, with the data in `data_dir`.
    #[must_use]
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            data_dir: data_dir.into(),
            durability: Durability::Full,
            limits: StreamLimits::default(),
            append_queue_max: 4_096,
            append_queue_bytes_max: 64 * MIB,
            batch_appends_max: 1_024,
            batch_bytes_max: 8 * MIB,
            readers: cores.clamp(2, 4),
            reader_queue_max: 1_024,
            read_max: Duration::from_secs(1),
            wal_checkpoint_bytes: 16 * MIB as u64,
            wal_bytes_max: 1024 * MIB as u64,
            cached_streams_max: 16_384,
            newest_cache_bytes_max: 64 * MIB,
            busy_timeout: Duration::from_secs(5),
            tick: Duration::from_secs(1),
            page_size: 4_096,
            max_page_count: None,
            clock: system_clock(),
        }
    }
}
