//! What an engine reports while it works: committed changes, and its health.

use std::fmt;

use crate::event::Event;
use crate::name::StreamName;
use crate::offset::Offset;
use crate::store::StreamId;

/// Told by an engine what became durable, in commit order.
///
/// Called on the engine's own thread, so an implementation must not block: it files the
/// change and wakes others.
pub trait StoreObserver: Send + Sync + 'static {
    /// Changes that are durable now and visible to every read that starts after this call.
    fn committed(&self, changes: &[Change]);

    /// The engine takes appends again, refuses them, or has stopped for good.
    fn health_changed(&self, health: &Health);
}

/// One durable change of a stream.
#[derive(Clone, Debug)]
pub enum Change {
    /// A stream exists under a name that had none.
    Created {
        /// The new stream.
        stream: StreamId,
        /// Its name.
        name: StreamName,
    },
    /// Events were appended, or the stream was closed, or both.
    Appended {
        /// The stream.
        stream: StreamId,
        /// The new events, oldest first; empty for a mere close.
        events: Vec<Event>,
        /// The tail behind them.
        tail: Offset,
        /// Whether the stream takes no more.
        closed: bool,
    },
    /// The stream is gone: deleted or expired.
    Ended {
        /// The stream.
        stream: StreamId,
    },
    /// Events before an offset are gone.
    Trimmed {
        /// The stream.
        stream: StreamId,
        /// The first position that can still be read.
        earliest: Offset,
    },
}

/// Whether a store takes appends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// Appends are taken.
    Ready,
    /// Appends are refused for now, reads go on. The store recovers by itself.
    Unready(UnreadyReason),
    /// The store stopped for good: what it did last is in doubt. The process must end.
    Failed {
        /// What went wrong, for the log.
        reason: String,
    },
}

/// Why a store refuses appends for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadyReason {
    /// The disk, or the size set for the database, is full.
    DiskFull,
    /// The write-ahead log passed its limit because an outside reader holds it.
    WalFull,
    /// Another process holds the write lock.
    LockedOutside,
    /// The store is shutting down.
    ShuttingDown,
}

impl fmt::Display for UnreadyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DiskFull => "the disk is full",
            Self::WalFull => {
                "the write-ahead log is full: another process holds a read transaction open"
            }
            Self::LockedOutside => "another process holds the database's write lock",
            Self::ShuttingDown => "the store is shutting down",
        })
    }
}
