//! Starting, signalling and ending one server process.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::output::Output;
use crate::wait::wait_until;

/// Longest wait for the ready line.
pub const READY_MAX: Duration = Duration::from_secs(30);
/// Longest wait for a killed process to be gone.
const KILL_MAX: Duration = Duration::from_secs(10);

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The binary could not be run.
    #[error("cannot run the server binary {binary}")]
    Spawn {
        /// What was to be run.
        binary: String,
        /// The operating system's reason.
        #[source]
        source: io::Error,
    },
    /// The process ended, or kept silent, before it printed its address.
    #[error("no ready line ({status}); its standard error:\n{stderr}")]
    NotReady {
        /// How the process ended, or that it still ran.
        status: String,
        /// The last lines of its standard error.
        stderr: String,
    },
}

/// A running server.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    address: SocketAddr,
    ready_line: String,
    stdout: Arc<Output>,
    stderr: Arc<Output>,
}

impl ServerProcess {
    /// Runs `binary serve --listen 127.0.0.1:0 --data DATA` with `options` behind it, and
    /// waits until it takes appends.
    ///
    /// # Errors
    /// See [`StartError`].
    pub fn start<S: AsRef<OsStr>>(
        binary: &Path,
        data: &Path,
        options: &[S],
    ) -> Result<Self, StartError> {
        let mut command = serve_command(binary, data);
        command.args(options);
        Self::spawn(command)
    }

    /// Runs `command`, and waits for a line on its standard output with an `http://` address.
    ///
    /// # Errors
    /// See [`StartError`].
    pub fn spawn(mut command: Command) -> Result<Self, StartError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|source| StartError::Spawn {
            binary: command.get_program().to_string_lossy().into_owned(),
            source,
        })?;
        let stdout = Output::drain(child.stdout.take());
        let stderr = Output::drain(child.stderr.take());
        let ready = stdout.wait_for(READY_MAX, |line| address_in(line).is_some());
        let Some((line, address)) = ready.and_then(|line| Some((line.clone(), address_in(&line)?)))
        else {
            return Err(not_ready(&mut child, &stderr));
        };
        Ok(Self { child, address, ready_line: line, stdout, stderr })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The line that named the address.
    #[must_use]
    pub fn ready_line(&self) -> &str {
        &self.ready_line
    }

    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The last lines of standard output.
    #[must_use]
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// The last lines of standard error. Complete once the process has ended and
    /// [`ServerProcess::wait`] has returned.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// `kill -9`, and waits until the process is gone.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn kill(&mut self) -> io::Result<ExitStatus> {
        self.child.kill()?;
        self.wait(KILL_MAX)
    }

    /// Asks it to shut down (SIGTERM), without waiting.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn terminate(&self) -> io::Result<()> {
        self.signal(Signal::TERM)
    }

    /// Sends any signal, such as [`Signal::INT`].
    ///
    /// # Errors
    /// The operating system's error.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Waits at most `limit` for the process to end by itself.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if it still runs, or the operating system's error.
    pub fn wait(&mut self, limit: Duration) -> io::Result<ExitStatus> {
        let mut ended = None;
        wait_until(limit, || {
            ended = self.child.try_wait().transpose();
            ended.is_some()
        });
        let status = ended.unwrap_or_else(|| Err(io::ErrorKind::TimedOut.into()))?;
        // The pipes close with the process, unless it left children behind.
        self.stdout.wait_for_end(Duration::from_secs(1));
        self.stderr.wait_for_end(Duration::from_secs(1));
        Ok(status)
    }
}

/// `binary serve --listen 127.0.0.1:0 --data DATA`, without the `SQUALL_` variables of the
/// person who runs the test.
#[must_use]
pub fn serve_command(binary: &Path, data: &Path) -> Command {
    let mut command = Command::new(binary);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
    let names = env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| name.as_encoded_bytes().starts_with(b"SQUALL_")) {
        command.env_remove(name);
    }
    command
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Kills and reaps. A process that is already gone is what is wanted.
fn end(child: &mut Child) {
    if child.kill().is_ok() {
        child.wait().ok();
    }
}

fn not_ready(child: &mut Child, stderr: &Output) -> StartError {
    // A process that closed its output is about to end; its code says the most.
    wait_until(Duration::from_secs(1), || !matches!(child.try_wait(), Ok(None)));
    let status = match child.try_wait() {
        Ok(Some(status)) => status.to_string(),
        Ok(None) => "still running".to_owned(),
        Err(error) => error.to_string(),
    };
    end(child);
    stderr.wait_for_end(Duration::from_secs(1));
    StartError::NotReady { status, stderr: stderr.text() }
}

/// The address behind `http://` in a ready line.
fn address_in(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("http://")?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || ".:[]".contains(c)));
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_address_is_found_in_any_sentence() {
        let check = |line: &str, expected: Option<&str>| {
            assert_eq!(address_in(line).map(|a| a.to_string()).as_deref(), expected, "{line}");
        };
        check("listening on http://127.0.0.1:8080, data in ./d", Some("127.0.0.1:8080"));
        check("http://[::1]:80/ d", Some("[::1]:80"));
        check("http://127.0.0.1:8080", Some("127.0.0.1:8080"));
        check("http://nowhere d", None);
        check("starting", None);
    }

    #[test]
    fn a_ready_process_is_found_and_killed() {
        let script = "echo starting; echo at http://127.0.0.1:1234/ data d; exec sleep 60";
        let mut server = ServerProcess::spawn(shell(script)).unwrap();
        assert_eq!(server.address().port(), 1234);
        assert!(server.ready_line().ends_with("data d"));
        let waited = server.wait(Duration::from_millis(5)).unwrap_err();
        assert_eq!(waited.kind(), io::ErrorKind::TimedOut);
        assert!(!server.kill().unwrap().success());
    }

    #[test]
    fn a_process_that_ends_early_says_why() {
        let error = ServerProcess::spawn(shell("echo data is locked >&2; exit 7")).unwrap_err();
        let StartError::NotReady { status, stderr } = error else { panic!("{error}") };
        assert!(status.contains('7'), "{status}");
        assert_eq!(stderr, "data is locked\n");
    }

    #[test]
    fn a_terminated_process_may_end_with_its_own_code() {
        let script = "trap 'exit 6' TERM; echo http://127.0.0.1:1; while :; do sleep 0.05; done";
        let mut server = ServerProcess::spawn(shell(script)).unwrap();
        server.terminate().unwrap();
        assert_eq!(server.wait(Duration::from_secs(10)).unwrap().code(), Some(6));
    }
}
