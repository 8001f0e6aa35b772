//! One run of the generator against the scripted server.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use squall_testkit::scripted::{Record, ScriptedServer, Service};

use super::cases::{Load, PIPELINE};

/// What one run was like, on both sides.
pub(super) struct Measured {
    /// The generator's record.
    pub(super) squall: Value,
    pub(super) server: Record,
}

/// Runs `binary bench` with `options` against a server that takes `service`.
pub(super) fn measure(binary: &Path, service: Service, options: &[String]) -> Result<Measured> {
    let server = ScriptedServer::serve(service);
    let output = Command::new(binary)
        .args(["bench", &server.url("/"), "--format", "json", "--threads", "1"])
        .args(options)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}", binary.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "squall bench failed: {}: {said}", output.status);
    let squall = serde_json::from_slice(&output.stdout).context("no JSON came")?;
    let measured = Measured { squall, server: server.stop() };
    measured.check_counts()?;
    Ok(measured)
}

impl Measured {
    /// Both sides count the same, to the request, and the ledger adds up.
    fn check_counts(&self) -> Result<()> {
        let [scheduled, missed, sent, ok, failed, unanswered] =
            ["scheduled", "missed", "sent", "ok", "failed", "unanswered"]
                .map(|key| self.squall["ledger"][key].as_u64().unwrap_or(u64::MAX));
        let served = self.server.requests();
        ensure!(sent == served, "{sent} sent, but the server read {served}");
        ensure!(scheduled == sent + missed, "{scheduled} scheduled, {sent} sent, {missed} missed");
        ensure!(sent == ok + failed + unanswered, "{sent} sent, {ok} ok, {failed} failed");
        ensure!(failed == 0, "{failed} failed");
        Ok(())
    }

    /// What the server says that each request took, sorted: from when it was read, or, for a
    /// batch, from when the first of the batch was.
    pub(super) fn server_times(&self, load: Load) -> Vec<u64> {
        let batch = if load == Load::Pipelined { PIPELINE } else { 1 };
        let connections = self.server.connections.iter();
        let mut times: Vec<u64> = connections
            .flat_map(|connection| connection.requests.chunks(batch))
            .flat_map(|batch| {
                let from = batch.first().map_or(0, |first| first.read_at);
                batch.iter().filter_map(move |request| Some(request.replied_at? - from))
            })
            .collect();
        times.sort_unstable();
        times
    }

    /// A percentile of the generator's service times.
    pub(super) fn squall_time(&self, percentile: &str) -> Option<u64> {
        self.squall["latency"]["service"][percentile].as_u64()
    }

    /// Arrivals a second that were scheduled, and verified replies a second.
    pub(super) fn rates(&self) -> Option<(f64, f64)> {
        let scheduled = self.squall["ledger"]["scheduled"].as_f64()?;
        let seconds = self.squall["window"]["seconds"].as_f64()?;
        let replies = self.squall["summary"]["verified_replies_per_second"].as_f64()?;
        Some((scheduled / seconds, replies))
    }
}
