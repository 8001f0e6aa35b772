//! `strace` on a running server, and what its lines say about requests, syncs and replies.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use squall_testkit::wait::wait_until;
use tempfile::TempDir;

/// Longest wait for strace to attach or to end.
const STRACE_MAX: Duration = Duration::from_secs(20);
/// Every call that syncs, brings a request or sends a reply.
const CALLS: &str = "trace=fsync,fdatasync,read,readv,recvfrom,recvmsg,write,writev,sendto,sendmsg";

/// What happened, in the order in which strace saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// A POST was read from its connection.
    Request,
    /// A sync returned.
    Sync {
        /// `fdatasync`, not `fsync`.
        is_data: bool,
        /// It returned 0.
        is_done: bool,
    },
    /// The head of a reply was handed to the kernel.
    Reply {
        /// Its status was 2xx.
        is_success: bool,
    },
}

/// strace, attached to a server and writing to a file.
pub(super) struct Trace {
    strace: Child,
    directory: TempDir,
}

impl Trace {
    /// Attaches to all threads of `process`; `options` may inject faults.
    pub(super) fn attach(process: u32, options: &[&str]) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let stderr = directory.path().join("stderr");
        let strace = Command::new("strace")
            .args(["-f", "-s", "80", "-e", CALLS])
            .args(options)
            .arg("-o")
            .arg(directory.path().join("trace"))
            .args(["-p", &process.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&stderr)?)
            .spawn()
            .context("cannot run strace")?;
        let mut trace = Self { strace, directory };
        let is_attached = || fs::read_to_string(&stderr).is_ok_and(|s| s.contains(" attached"));
        if !wait_until(STRACE_MAX, is_attached) {
            trace.end()?;
            anyhow::bail!("strace did not attach: {}", fs::read_to_string(&stderr)?);
        }
        Ok(trace)
    }

    /// Detaches, if the server still runs, and reads what was seen.
    pub(super) fn finish(mut self) -> Result<Vec<Moment>> {
        self.end()?;
        let text = fs::read(self.file())?;
        Ok(moments(&String::from_utf8_lossy(&text)))
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("trace")
    }

    fn end(&mut self) -> Result<()> {
        if self.strace.try_wait()?.is_none() {
            // strace takes this as a wish to detach; the server goes on.
            kill_process(Pid::from_child(&self.strace), Signal::TERM)?;
        }
        let ended = wait_until(STRACE_MAX, || !matches!(self.strace.try_wait(), Ok(None)));
        ensure!(ended, "strace did not end");
        Ok(())
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        if self.strace.kill().is_ok() {
            self.strace.wait().ok();
        }
    }
}

fn moments(trace: &str) -> Vec<Moment> {
    trace.lines().filter_map(moment).collect()
}

/// A reply counts from the start of its call, a request and a sync from its end: what is
/// in doubt is counted against the server.
fn moment(line: &str) -> Option<Moment> {
    let call = call_name(line);
    if matches!(call, "fdatasync" | "fsync") {
        let (_, result) = line.rsplit_once(" = ")?;
        return Some(Moment::Sync { is_data: call == "fdatasync", is_done: result.trim() == "0" });
    }
    if line.contains("\"HTTP/1.1 ") {
        return Some(Moment::Reply { is_success: line.contains("\"HTTP/1.1 2") });
    }
    line.contains("\"POST /").then_some(Moment::Request)
}

/// The call of a line: `8 fsync(5) = 0` or `8 <... fsync resumed>) = 0`.
fn call_name(line: &str) -> &str {
    let (_, rest) = line.split_once(' ').unwrap_or_default();
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("<... ").unwrap_or(rest);
    rest.split(['(', ' ']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_strace_are_understood() {
        let sync = |is_data, is_done| Some(Moment::Sync { is_data, is_done });
        let reply = |is_success| Some(Moment::Reply { is_success });
        let check = |line: &str, expected: Option<Moment>| {
            assert_eq!(moment(line), expected, "{line}");
        };
        check(
            r#"7 recvfrom(9, "POST /v1/stream/x HTTP/1.1\r\n"..., 8192, 0, NULL, NULL) = 150"#,
            Some(Moment::Request),
        );
        check(
            r#"7 <... recvfrom resumed>"POST /v1/str"..., 8192, 0, NULL, NULL) = 150"#,
            Some(Moment::Request),
        );
        check("8 fdatasync(5)                      = 0", sync(true, true));
        check("8 fsync(5) = 0", sync(false, true));
        check("8 fdatasync(5 <unfinished ...>", None);
        check("8 <... fdatasync resumed>)          = 0", sync(true, true));
        check("8 fdatasync(5) = -1 EIO (Input/output error) (INJECTED)", sync(true, false));
        check(
            r#"7 writev(9, [{iov_base="HTTP/1.1 204 No Content\r\n"..., iov_len=99}], 1) = 99"#,
            reply(true),
        );
        check(
            r#"7 sendto(9, "HTTP/1.1 500 Internal"..., 99, MSG_NOSIGNAL <unfinished ...>"#,
            reply(false),
        );
        check(r#"7 write(4, "\1\0\0\0\0\0\0\0", 8) = 8"#, None);
        check(r#"7 write(4, "/v1/stream/fsync", 16) = 16"#, None);
        check("7 +++ exited with 6 +++", None);
    }
}
