//! The rounds: create, load, kill, restart, settle, compare.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::read_back::read_back;
use super::verify::{Verdict, Violation, verify};
use super::worker::{TEXT, Worker};
use crate::http::{Request, call};
use crate::process::{ServerProcess, StartError, serve_command};
use crate::wait::pause;

/// Life of a server under load before it is killed, in milliseconds.
const LIFE_MS: std::ops::RangeInclusive<u64> = 50..=500;
/// Life of a server that is killed once more while it recovers, in milliseconds.
const RECOVERY_MS_MAX: u64 = 30;
/// Longest wait for the orderly shutdown at the end.
const SHUTDOWN_MAX: Duration = Duration::from_secs(30);

/// What to run.
#[derive(Clone, Debug)]
pub struct CrashOptions {
    /// The `squall` binary.
    pub binary: PathBuf,
    /// An empty directory on the file system to test.
    pub data: PathBuf,
    /// Kills.
    pub rounds: u32,
    /// Connections, each with at most one request in flight.
    pub connections: u32,
    /// Decides every random choice. Timing stays the machine's.
    pub seed: u64,
}

/// Why the test could not go on. A broken promise is a [`Violation`], not one of these.
#[derive(Debug, thiserror::Error)]
pub enum CrashError {
    /// The server did not start, or not again.
    #[error("round {round}: the server did not start")]
    Start {
        /// The round, from 1.
        round: u32,
        /// Why.
        #[source]
        source: StartError,
    },
    /// The server did not do what a step needs.
    #[error("round {round}: {step} failed; the server's standard error:\n{stderr}")]
    Step {
        /// The round, from 1.
        round: u32,
        /// What was done.
        step: &'static str,
        /// The last lines of the server's standard error.
        stderr: String,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// One round's result.
#[derive(Clone, Debug)]
pub struct RoundReport {
    /// The round, from 1.
    pub round: u32,
    /// What was found.
    pub verdict: Verdict,
}

/// All rounds together.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Rounds that were compared.
    pub rounds: u32,
    /// Events acked.
    pub acked: usize,
    /// Events refused, and absent.
    pub refused: usize,
    /// Events without an answer.
    pub unknown: usize,
    /// Those of them that were there.
    pub unknown_present: usize,
    /// What was wrong, in the round it was found in. Empty if every promise was kept.
    pub violations: Vec<Violation>,
}

/// Runs the rounds until the last, or the first with a violation; `on_round` sees each.
///
/// # Errors
/// See [`CrashError`].
pub fn run(
    options: &CrashOptions,
    mut on_round: impl FnMut(&RoundReport),
) -> Result<Summary, CrashError> {
    let mut runner = Runner::start(options)?;
    let mut summary = Summary::default();
    for round in 1..=options.rounds {
        runner.round = round;
        let verdict = runner.run_round()?;
        summary.add(&verdict);
        on_round(&RoundReport { round, verdict });
        if !summary.violations.is_empty() {
            return Ok(summary);
        }
    }
    summary.violations = runner.compare_earlier()?;
    runner.shut_down()?;
    Ok(summary)
}

impl Summary {
    fn add(&mut self, verdict: &Verdict) {
        self.rounds += 1;
        self.acked += verdict.acked;
        self.refused += verdict.refused;
        self.unknown += verdict.unknown;
        self.unknown_present += verdict.unknown_present;
        self.violations.extend(verdict.violations.iter().cloned());
    }
}

struct Runner<'a> {
    options: &'a CrashOptions,
    server: ServerProcess,
    rng: StdRng,
    round: u32,
    /// Streams of finished rounds, with a hash of what was read.
    verified: Vec<(String, u64)>,
}

impl<'a> Runner<'a> {
    fn start(options: &'a CrashOptions) -> Result<Self, CrashError> {
        let rng = StdRng::seed_from_u64(options.seed);
        let server = start(options, 0)?;
        Ok(Self { options, server, rng, round: 0, verified: Vec::new() })
    }

    fn run_round(&mut self) -> Result<Verdict, CrashError> {
        let target = format!("/v1/stream/crash-{}", self.round);
        let created = create(self.server.address(), &target);
        created.map_err(|source| self.failed("creating the stream", source))?;
        let seed = self.rng.random();
        let mut workers: Vec<Worker> = (0..self.options.connections)
            .map(|connection| Worker::new(&target, connection, seed))
            .collect();
        self.load_and_kill(&mut workers)?;
        self.restart()?;
        let address = self.server.address();
        on_threads(&mut workers, |worker| worker.settle(address));
        let logs: Vec<_> = workers.into_iter().map(Worker::into_log).collect();
        let stored = self.read(&target)?;
        let verdict = verify(&logs, &stored);
        self.verified.push((target, hash(&stored)));
        Ok(verdict)
    }

    fn load_and_kill(&mut self, workers: &mut [Worker]) -> Result<(), CrashError> {
        let life = Duration::from_millis(self.rng.random_range(LIFE_MS));
        let killed = AtomicBool::new(false);
        let address = self.server.address();
        let result = thread::scope(|scope| {
            for worker in workers {
                let killed = &killed;
                scope.spawn(move || worker.load(address, killed));
            }
            pause(life);
            killed.store(true, Ordering::SeqCst);
            self.server.kill()
        });
        result.map(drop).map_err(|source| self.failed("killing the server", source))
    }

    /// Starts the server again; in one round of four it is killed once more on the way.
    fn restart(&mut self) -> Result<(), CrashError> {
        if self.rng.random_range(0..4) == 0 {
            let life = Duration::from_millis(self.rng.random_range(0..RECOVERY_MS_MAX));
            let result = kill_while_starting(self.options, life);
            result.map_err(|source| self.failed("killing the recovering server", source))?;
        }
        self.server = start(self.options, self.round)?;
        Ok(())
    }

    fn read(&self, target: &str) -> Result<Vec<u8>, CrashError> {
        let stored = read_back(self.server.address(), target);
        stored.map_err(|source| self.failed("reading the stream back", source))
    }

    /// Later kills must not touch what earlier rounds verified.
    fn compare_earlier(&self) -> Result<Vec<Violation>, CrashError> {
        let mut changed = Vec::new();
        for (target, expected) in &self.verified {
            if hash(&self.read(target)?) != *expected {
                changed.push(Violation::Changed(target.clone()));
            }
        }
        Ok(changed)
    }

    fn shut_down(&mut self) -> Result<(), CrashError> {
        let ended = self.server.terminate().and_then(|()| self.server.wait(SHUTDOWN_MAX));
        let status = ended.map_err(|source| self.failed("shutting down", source))?;
        if !status.success() {
            return Err(self.failed("shutting down", io::Error::other(status.to_string())));
        }
        Ok(())
    }

    fn failed(&self, step: &'static str, source: io::Error) -> CrashError {
        CrashError::Step { round: self.round, step, stderr: self.server.stderr(), source }
    }
}

fn on_threads(workers: &mut [Worker], work: impl Fn(&mut Worker) + Sync) {
    thread::scope(|scope| {
        for worker in workers {
            scope.spawn(|| work(worker));
        }
    });
}

fn start(options: &CrashOptions, round: u32) -> Result<ServerProcess, CrashError> {
    let server = ServerProcess::start::<&str>(&options.binary, &options.data, &[]);
    server.map_err(|source| CrashError::Start { round, source })
}

fn kill_while_starting(options: &CrashOptions, life: Duration) -> io::Result<()> {
    let mut child = serve_command(&options.binary, &options.data)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    pause(life);
    child.kill()?;
    child.wait().map(drop)
}

fn create(address: SocketAddr, target: &str) -> io::Result<()> {
    let response = call(address, &Request::new("PUT", target).header("Content-Type", TEXT))?;
    match response.status {
        201 => Ok(()),
        status => Err(io::Error::other(format!("answered {status}: {}", response.text()))),
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
