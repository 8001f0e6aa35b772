//! A server on data of its own, and other programs to use it with.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::slice;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use squall_testkit::crash::{ConnectionLog, EventId, Outcome, read_back, verify};
use squall_testkit::http::{Connection, Request, Response};
use squall_testkit::process::ServerProcess;
use tempfile::TempDir;

/// Longest wait for an orderly shutdown.
const SHUTDOWN_MAX: Duration = Duration::from_secs(30);

/// A server on a temporary directory.
pub(super) struct Fresh {
    pub(super) server: ServerProcess,
    data: PathBuf,
    /// Removed when dropped, after the server.
    _directory: TempDir,
}

impl Fresh {
    pub(super) fn start(squall: &Path) -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("squall-ci-").tempdir()?;
        let data = directory.path().join("data");
        let server = start(squall, &data)?;
        Ok(Self { server, data, _directory: directory })
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.address())
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Starts again on the same data, after the server has ended.
    pub(super) fn restart(&mut self, squall: &Path) -> Result<()> {
        self.server = start(squall, &self.data)?;
        Ok(())
    }

    /// An orderly shutdown, which must end with 0.
    pub(super) fn stop(&mut self) -> Result<()> {
        stop(&mut self.server)
    }
}

/// Starts `squall` on `data`.
pub(super) fn start(squall: &Path, data: &Path) -> Result<ServerProcess> {
    let server = ServerProcess::start::<&str>(squall, data, &[])?;
    println!("{}", server.ready_line());
    Ok(server)
}

/// An orderly shutdown, which must end with 0.
pub(super) fn stop(server: &mut ServerProcess) -> Result<()> {
    server.terminate()?;
    let status = server.wait(SHUTDOWN_MAX).context("the server did not shut down")?;
    ensure!(status.success(), "shutdown ended with {status}:\n{}", server.stderr());
    Ok(())
}

/// Creates a text stream, which must be new.
pub(super) fn create(connection: &mut Connection, target: &str) -> Result<()> {
    let request = Request::new("PUT", target).header("Content-Type", "text/plain");
    let response = connection.call(&request)?;
    ensure!(response.status == 201, "PUT {target}: {} {}", response.status, response.text());
    Ok(())
}

/// Appends the next event of `log` and enters what became of it.
pub(super) fn append(
    connection: &mut Connection,
    target: &str,
    log: &mut ConnectionLog,
) -> io::Result<Response> {
    let number = log.outcomes.last_key_value().map_or(0, |(last, _)| last + 1);
    log.outcomes.insert(number, Outcome::Unknown);
    let event = EventId { connection: log.connection, number };
    let request =
        Request::new("POST", target).header("Content-Type", "text/plain").body(event.payload());
    let response = connection.call(&request)?;
    match response.status {
        200 | 204 => log.outcomes.insert(number, Outcome::Acked),
        507 => log.outcomes.insert(number, Outcome::Refused),
        503 if !response.text().contains("outcome_unknown") => {
            log.outcomes.insert(number, Outcome::Refused)
        }
        _ => None,
    };
    Ok(response)
}

/// Compares the stream at `target` with what its one connection remembers.
pub(super) fn compare(address: SocketAddr, target: &str, log: &ConnectionLog) -> Result<()> {
    compare_all(address, target, slice::from_ref(log))
}

/// Compares the stream at `target` with what all connections remember.
pub(super) fn compare_all(address: SocketAddr, target: &str, logs: &[ConnectionLog]) -> Result<()> {
    let verdict = verify(logs, &read_back(address, target)?);
    let found: Vec<String> = verdict.violations.iter().map(ToString::to_string).collect();
    ensure!(found.is_empty(), "{target}: {}", found.join("; "));
    println!(
        "{target}: {} acked and there, {} refused and absent, {} unknown of which {} present",
        verdict.acked, verdict.refused, verdict.unknown, verdict.unknown_present
    );
    Ok(())
}

/// Whether a program is installed.
pub(super) fn is_installed(program: &str) -> bool {
    let version = if program == "ab" { "-V" } else { "--version" };
    let mut command = Command::new(program);
    command.arg(version).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs a program to its end and returns its standard output.
pub(super) fn output_of(program: &str, args: &[&str]) -> Result<String> {
    println!("$ {program} {}", args.join(" "));
    let output = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {program}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program}: {}\n{stdout}{stderr}", output.status);
    Ok(stdout)
}
