//! What every request of a server shares.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use squall_stream::{ContentType, StreamName, StreamStore};

use crate::config::ServerConfig;
use crate::door::{Door, InFlight};
use crate::follow::Hub;
use crate::pages::PageBudget;

/// The parts of a running server.
pub(crate) struct Context {
    pub(crate) config: ServerConfig,
    pub(crate) store: Arc<dyn StreamStore>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) pages: Arc<PageBudget>,
    pub(crate) bodies: Arc<InFlight>,
    pub(crate) door: Door,
    pub(crate) counters: Counters,
    /// `default`, the stream that `/` and `/stream` show.
    pub(crate) default_stream: StreamName,
    /// What `default` was created with, as far as appends have found out.
    pub(crate) default_type: std::sync::RwLock<ContentType>,
    pub(crate) draining: AtomicBool,
    /// Where the server listens, for a client that names no host.
    pub(crate) listen: String,
}

/// What was counted since the start.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) requests: AtomicU64,
    pub(crate) refused_hosts: AtomicU64,
    pub(crate) refused_origins: AtomicU64,
    pub(crate) follows: AtomicU64,
    pub(crate) refused_followers: AtomicU64,
    pub(crate) long_polls: AtomicU64,
}

impl Counters {
    pub(crate) fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl Context {
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }
}
