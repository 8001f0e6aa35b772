//! Running `squall` in these tests: with no variable of the caller's, and never for ever.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use squall_testkit::process::ServerProcess;
use squall_testkit::wait::wait_until;

/// Longest wait for a process that is expected to end.
pub(crate) const END_MAX: Duration = Duration::from_secs(20);

/// What a process that ended left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The binary.
pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_squall"))
}

/// The command `squall …`, whose terminal is 100 columns wide.
pub(crate) fn squall(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments).env_clear().env("COLUMNS", "100");
    command
}

/// Runs a command to its end. Its output must fit into a pipe.
pub(crate) fn run(command: Command) -> Finished {
    finish(spawn(command))
}

/// Starts a command whose output is kept for [`finish`].
pub(crate) fn spawn(mut command: Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits for the end of a process. Its output must fit into a pipe.
pub(crate) fn finish(mut child: Child) -> Finished {
    let mut status = None;
    wait_until(END_MAX, || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    if status.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let text = |pipe: Option<&mut dyn Read>| {
        let mut text = String::new();
        if let Some(pipe) = pipe {
            pipe.read_to_string(&mut text).unwrap();
        }
        text
    };
    Finished {
        code: status.and_then(|status| status.code()),
        stdout: text(child.stdout.as_mut().map(|pipe| pipe as &mut dyn Read)),
        stderr: text(child.stderr.as_mut().map(|pipe| pipe as &mut dyn Read)),
    }
}

/// Runs `squall serve` on a free port with data in `data`, and expects it to end.
pub(crate) fn serve_and_end(data: &Path, options: &[&str]) -> Finished {
    let mut command = squall(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    command.arg(data).args(options);
    run(command)
}

/// A running server with data in `data`.
pub(crate) fn start(data: &Path, options: &[&str]) -> ServerProcess {
    ServerProcess::start(binary(), data, options).unwrap()
}
