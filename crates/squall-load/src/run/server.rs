//! What the server's processes take during the window.

use std::time::Duration;

use squall_stats::record::ServerRecord;

use super::error::RunError;
use crate::host::process::{Tree, TreeSample};

/// Watches one process and its children.
#[derive(Debug)]
pub(super) struct ServerWatch {
    tree: Tree,
    start: Option<TreeSample>,
    end: Option<TreeSample>,
    rss_bytes_max: u64,
}

impl ServerWatch {
    pub(super) fn new(pid: u32) -> Result<Self, RunError> {
        let tree = Tree::new(pid).map_err(|error| RunError::Server(error.to_string()))?;
        Ok(Self { tree, start: None, end: None, rss_bytes_max: 0 })
    }

    /// The window opens.
    pub(super) fn start(&mut self) {
        self.start = self.look();
    }

    /// The window closes.
    pub(super) fn end(&mut self) {
        self.end = self.look();
    }

    /// Looks, for the most memory that is seen.
    pub(super) fn look(&mut self) -> Option<TreeSample> {
        let sample = self.tree.sample().ok()?;
        self.rss_bytes_max = self.rss_bytes_max.max(sample.rss_bytes);
        Some(sample)
    }

    /// Whether the process did not live through the window.
    pub(super) fn is_incomplete(&self) -> bool {
        self.start.is_none() || self.end.is_none()
    }

    /// The record; `None` if the process did not live through the window.
    pub(super) fn record(&self, window: Duration, replies: u64) -> Option<ServerRecord> {
        let used = self.end.as_ref()?.since(self.start.as_ref()?);
        let cpu = used.cpu_user + used.cpu_system;
        let seconds = window.as_secs_f64();
        Some(ServerRecord {
            pid: self.tree.pid(),
            processes: used.processes,
            cpu_user_seconds: used.cpu_user.as_secs_f64(),
            cpu_system_seconds: used.cpu_system.as_secs_f64(),
            cpu_per_reply_ns: (replies > 0).then(|| cpu.as_secs_f64() * 1e9 / replies as f64),
            cores: if seconds > 0.0 { cpu.as_secs_f64() / seconds } else { 0.0 },
            rss_bytes_max: self.rss_bytes_max,
            threads: used.threads,
            voluntary_switches: used.voluntary_switches,
            involuntary_switches: used.involuntary_switches,
        })
    }
}
