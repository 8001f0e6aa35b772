//! What became of connections.

use std::collections::BTreeMap;

use squall_stats::record::ConnectionsRecord;

use crate::net::Fault;

/// Counts of connections, from the start of the run to its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connections {
    pub(crate) opened: u64,
    pub(crate) reused: u64,
    pub(crate) closed_by_client: u64,
    pub(crate) closed_by_server: u64,
    /// Connections on which the server sent what nobody had asked for.
    pub(crate) unmatched: u64,
    failed: BTreeMap<&'static str, u64>,
}

impl Connections {
    /// An attempt failed.
    pub(crate) fn failed(&mut self, fault: Fault) {
        *self.failed.entry(fault.name()).or_default() += 1;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.opened += other.opened;
        self.reused += other.reused;
        self.closed_by_client += other.closed_by_client;
        self.closed_by_server += other.closed_by_server;
        self.unmatched += other.unmatched;
        for (name, count) in &other.failed {
            *self.failed.entry(name).or_default() += count;
        }
    }

    pub(crate) fn record_of(&self) -> ConnectionsRecord {
        let failed = self.failed.iter().map(|(name, count)| ((*name).to_owned(), *count));
        ConnectionsRecord {
            opened: self.opened,
            failed: failed.collect(),
            reused: self.reused,
            closed_by_client: self.closed_by_client,
            closed_by_server: self.closed_by_server,
        }
    }
}
