//! The measured server, in a process of its own that never outlives this one.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, anyhow};

use crate::exit::Failure;

/// A running `squall calibrate-server`.
#[derive(Debug)]
pub(super) struct MeasuredServer {
    /// Holds the standard input, whose end ends the server even if this process is killed.
    child: Child,
    url: String,
}

impl MeasuredServer {
    /// Starts this same binary as a server, on processor `pin` if there is one for it.
    pub(super) fn start(pin: Option<u32>) -> Result<Self, Failure> {
        let binary = std::env::current_exe().context("cannot tell which binary this is")?;
        let mut command = Command::new(binary);
        command.arg("calibrate-server");
        if let Some(cpu) = pin {
            command.arg("--pin").arg(cpu.to_string());
        }
        // In a group of its own, ctrl-C on the terminal is for this process alone.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.spawn().context("cannot start the server to be measured")?;
        let mut server = Self { child, url: String::new() };
        server.url = server.read_url()?;
        Ok(server)
    }

    /// Where it listens.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The number of its process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    fn read_url(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        if let Some(stdout) = self.child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).context("cannot hear the server")?;
        }
        let url = line.trim_end();
        if !url.starts_with("http://") {
            // It has said why on standard error, which is ours.
            return Err(anyhow!("the server to be measured did not start").into());
        }
        Ok(url.to_owned())
    }
}

impl Drop for MeasuredServer {
    fn drop(&mut self) {
        // One that is gone already is what is wanted.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
