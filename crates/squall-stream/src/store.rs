//! The boundary between the server and an engine.

use std::pin::Pin;

use crate::event::Page;
use crate::name::StreamName;
use crate::observer::Health;
use crate::offset::Offset;
use crate::request::{
    Append, AppendAck, AppendError, Create, CreateAck, CreateError, List, Listing, Newest, Read,
    ReadError, StoreError, StreamError, StreamInfo,
};

/// A boxed future: one allocation, small beside a request.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An engine's own number for a stream, never used for another stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u64);

/// An answer that is there already, or one that takes a wait.
pub enum Lookup<T> {
    /// From memory.
    Ready(T),
    /// From the engine.
    Later(BoxFuture<'static, T>),
}

/// Where events are kept. Callers see one append, one ack; batching is the engine's.
///
/// Object-safe, and chosen once, in the binary. Every change resolves once it is durable,
/// never before, and is visible to readers only then. A change that was handed over runs
/// to its end even if its future is dropped. An engine reports what it committed to its
/// [`crate::observer::StoreObserver`] before it resolves the futures concerned.
pub trait StreamStore: Send + Sync + 'static {
    /// Creates a stream, or confirms one that stands as asked for and renews its sliding
    /// expiry. First events and a close are reported as one [`Change::Appended`] behind
    /// [`Change::Created`].
    ///
    /// [`Change::Appended`]: crate::observer::Change::Appended
    /// [`Change::Created`]: crate::observer::Change::Created
    fn create(&self, create: Create) -> BoxFuture<'_, Result<CreateAck, CreateError>>;

    /// Appends, closes, or both. Renews a sliding expiry, also as a duplicate.
    ///
    /// A refused append leaves nothing: no event, no stream, no renewal, no producer
    /// remembered and none forgotten.
    fn append(&self, append: Append) -> BoxFuture<'_, Result<AppendAck, AppendError>>;

    /// Ends the stream. Its name is free at once; its rows go later, in steps.
    fn delete(&self, name: StreamName) -> BoxFuture<'_, Result<(), StreamError>>;

    /// Gives up the events before `before`, rounded down to an event's start. Behind the
    /// tail all are given up; where there is nothing to give up nothing happens.
    /// Returns the first position that can still be read. Renews nothing.
    fn trim(&self, name: StreamName, before: Offset) -> BoxFuture<'_, Result<Offset, StreamError>>;

    /// Reads one page of committed events, oldest first, in one snapshot. A refused read
    /// renews nothing.
    fn read(&self, read: Read) -> BoxFuture<'_, Result<Page, ReadError>>;

    /// Shows a stream without renewing its expiry.
    fn describe(&self, name: StreamName) -> BoxFuture<'_, Result<StreamInfo, StreamError>>;

    /// The newest event of a stream; none if there is no stream or no event in it.
    /// Renews a sliding expiry.
    fn newest(&self, name: &StreamName) -> Lookup<Result<Option<Newest>, StoreError>>;

    /// Lists streams by name.
    fn list(&self, list: List) -> BoxFuture<'_, Result<Listing, StoreError>>;

    /// Renews the sliding expiry of a stream that is being followed.
    fn renew(&self, stream: StreamId);

    /// Says that the threads that call this store have nothing else to do for now, so that
    /// nothing more will come to join what waits. A hint: an engine may ignore it, and must
    /// not depend on it.
    fn callers_idle(&self) {}

    /// Whether appends are taken now.
    fn health(&self) -> Health;

    /// What the engine counts, for metrics.
    fn gauges(&self) -> StoreGauges;

    /// Takes no more changes, finishes those that wait, and makes the store ready to be
    /// opened again. Resolves when that is done.
    fn shut_down(&self) -> BoxFuture<'_, Result<(), StoreError>>;
}

/// What an engine counts. Totals run from the start of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreGauges {
    /// Changes that wait for a commit.
    pub append_queue_length: u64,
    /// Payload bytes that wait for a commit.
    pub append_queue_bytes: u64,
    /// Changes refused because the queue was full.
    pub append_queue_refusals_total: u64,
    /// Transactions committed for changes.
    pub batches_total: u64,
    /// Changes in those transactions.
    pub batched_changes_total: u64,
    /// Events appended.
    pub appended_events_total: u64,
    /// Payload bytes appended.
    pub appended_bytes_total: u64,
    /// Reads that wait for a reader.
    pub reader_queue_length: u64,
    /// Reads refused because the queue was full.
    pub reader_queue_refusals_total: u64,
    /// Bytes of the write-ahead log.
    pub wal_bytes: u64,
    /// Checkpoints taken.
    pub checkpoints_total: u64,
    /// Stream states held in memory.
    pub cached_streams: u64,
    /// Payload bytes of newest events held in memory.
    pub newest_cache_bytes: u64,
}
