//! A full disk: a small tmpfs as the data's home, filled, and given space again.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use squall_testkit::crash::ConnectionLog;
use squall_testkit::http::{Connection, Request, call};
use squall_testkit::process::ServerProcess;
use squall_testkit::wait::wait_until;

use super::setup::{append, compare, create, output_of, start, stop};
use crate::ci::{Outcome, Programs};

/// Size of the file system.
const DISK_MIB: u64 = 16;
/// What the ballast leaves free once the server runs.
const FREE_BYTES: u64 = 1024 * 1024;
/// Appends that must fill what is left.
const APPENDS_MAX: u32 = 50_000;
/// Refusals after which the disk counts as full.
const REFUSALS_IN_A_ROW: u32 = 200;
/// The server looks for space each second.
const RECOVERY_MAX: Duration = Duration::from_secs(15);
const TARGET: &str = "/v1/stream/full";

/// Fills the disk under a server: 507, reads go on, and appends resume by themselves.
///
/// # Errors
/// A promise was broken, or the server could not be run.
pub fn run(programs: &Programs) -> Result<Outcome> {
    if !rustix::process::geteuid().is_root() {
        return Ok(Outcome::Skipped("mounting a tmpfs needs root".to_owned()));
    }
    let disk = match Disk::mount() {
        Ok(disk) => disk,
        Err(error) => return Ok(Outcome::Skipped(format!("no tmpfs: {error:#}"))),
    };
    let data = disk.path().join("data");
    let mut server = start(&programs.squall, &data)?;
    let mut log = ConnectionLog::default();
    fill(&server, &disk, &mut log)?;
    still_serves(&server, &log)?;
    disk.remove_ballast()?;
    resumes(&server, &mut log)?;
    stop(&mut server)?;
    let mut server = start(&programs.squall, &data)?;
    compare(server.address(), TARGET, &log)?;
    stop(&mut server)?;
    Ok(Outcome::Passed)
}

/// Appends until the disk is full, which must be a clean 507. A smaller event may still
/// find room, so full means that many in a row are refused.
fn fill(server: &ServerProcess, disk: &Disk, log: &mut ConnectionLog) -> Result<()> {
    let mut connection = Connection::open(server.address())?;
    create(&mut connection, TARGET)?;
    append(&mut connection, TARGET, log)?;
    disk.add_ballast()?;
    let mut first = None;
    let mut refused_in_a_row = 0;
    for count in 1..=APPENDS_MAX {
        let response = append(&mut connection, TARGET, log)?;
        refused_in_a_row = match response.status {
            200 | 204 => 0,
            503 | 507 => refused_in_a_row + 1,
            status => bail!("append {count} on a filling disk: {status} {}", response.text()),
        };
        if response.status == 507 && first.is_none() {
            println!("507 at append {count}: {}", response.text());
            first = Some(count);
        }
        if refused_in_a_row == REFUSALS_IN_A_ROW {
            ensure!(first.is_some(), "a full disk is 503, never 507");
            return Ok(());
        }
    }
    bail!("{APPENDS_MAX} appends did not fill the disk")
}

/// While the disk is full the server is not ready, and reads go on.
fn still_serves(server: &ServerProcess, log: &ConnectionLog) -> Result<()> {
    let ready = call(server.address(), &Request::new("GET", "/readyz"))?;
    ensure!(ready.status == 503, "ready on a full disk: {}", ready.status);
    println!("not ready: {}", ready.text());
    compare(server.address(), TARGET, log)
}

/// With space again the server is ready and takes appends, without a restart.
fn resumes(server: &ServerProcess, log: &mut ConnectionLog) -> Result<()> {
    let ready = || {
        let response = call(server.address(), &Request::new("GET", "/readyz"));
        response.is_ok_and(|response| response.status == 200)
    };
    ensure!(wait_until(RECOVERY_MAX, ready), "not ready {RECOVERY_MAX:?} after space came back");
    let mut connection = Connection::open(server.address())?;
    for _ in 0..100 {
        let response = append(&mut connection, TARGET, log)?;
        let status = response.status;
        ensure!(matches!(status, 200 | 204), "with space again: {status} {}", response.text());
    }
    compare(server.address(), TARGET, log)
}

/// A mounted tmpfs, unmounted when dropped.
struct Disk {
    directory: tempfile::TempDir,
}

impl Disk {
    fn mount() -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("squall-disk-").tempdir()?;
        let path = directory.path().to_str().context("the temporary path is not text")?;
        let size = format!("size={DISK_MIB}m");
        output_of("mount", &["-t", "tmpfs", "-o", &size, "tmpfs", path])?;
        Ok(Self { directory })
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn ballast(&self) -> PathBuf {
        self.path().join("ballast")
    }

    /// Takes all space but [`FREE_BYTES`].
    fn add_ballast(&self) -> Result<()> {
        let mut file = fs::File::create(self.ballast())?;
        let block = vec![0; 64 * 1024];
        let mut size = 0;
        loop {
            match file.write(&block) {
                Ok(0) => break,
                Ok(count) => size += u64::try_from(count)?,
                Err(error) if error.kind() == io::ErrorKind::StorageFull => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(file.set_len(size.saturating_sub(FREE_BYTES))?)
    }

    fn remove_ballast(&self) -> Result<()> {
        Ok(fs::remove_file(self.ballast())?)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily, in case the server still runs after a failure.
        let unmounted = Command::new("umount").arg("-l").arg(self.path()).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            println!("cannot unmount {}", self.path().display());
        }
    }
}
