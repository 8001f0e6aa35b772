//! One run from start to record.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use mio::{Poll, Waker};
use squall_stats::record::BenchRecord;

use super::conductor::Conductor;
use super::error::RunError;
use super::handle::RunHandle;
use super::parts;
use super::progress::RunProgress;
use super::results;
use super::server::ServerWatch;
use crate::host::clock;
use crate::plan::{Address, LoadPlan};
use crate::worker::{Control, Messages, Outcome, Part, WAKER, Worker, WorkerError};

/// Messages that one worker sends at most.
const MESSAGES_MAX: usize = 3;

/// What a record says that the run itself does not know.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Release and commit of squall.
    pub squall: String,
    /// Verified replies a second that this machine's generator reached with the same
    /// pipelining, where that was measured.
    pub ceiling_per_second: Option<f64>,
}

/// Runs `plan`, calling `progress` about once a second on this thread.
///
/// # Errors
/// [`RunError`] if there is no result. A server that refuses or fails is a result.
pub fn run(
    plan: &LoadPlan,
    about: &About,
    handle: &RunHandle,
    progress: &mut dyn FnMut(&RunProgress),
) -> Result<BenchRecord, RunError> {
    let started_at = SystemTime::now();
    let address = parts::choose(&plan.endpoint, plan.connect_timeout)?;
    let follow_address = plan
        .follow
        .as_ref()
        .map(|follow| parts::choose(&follow.endpoint, plan.connect_timeout))
        .transpose()?;
    let server = plan.server_pid.map(ServerWatch::new).transpose()?;
    let plan = Arc::new(plan.clone());
    let parts = parts::divide(&plan, &address, follow_address.as_ref(), run_id());
    let (tx, rx) = sync_channel(parts.len() * MESSAGES_MAX);
    let (control, threads) = start(&plan, &parts, tx)?;
    let conducted = Conductor::new(&plan, &control, handle, rx, server, progress).conduct();
    let outcomes = join(threads)?;
    results::record(&plan, about, &address_name(&address), started_at, conducted, outcomes)
}

fn address_name(address: &Address) -> String {
    address.to_string()
}

/// Tells the stamps of this run from those of another; never zero, and without the highest bit,
/// which other programs have.
fn run_id() -> u32 {
    let (now_ns, pid) = (clock::now_ns(), std::process::id());
    let mixed = (now_ns ^ u64::from(pid) << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    u32::try_from(mixed).unwrap_or(1).max(1)
}

type Threads = Vec<JoinHandle<Result<Outcome, WorkerError>>>;

fn start(
    plan: &Arc<LoadPlan>,
    parts: &[Part],
    messages: Messages,
) -> Result<(Arc<Control>, Threads), RunError> {
    let mut polls = Vec::new();
    let mut wakers = Vec::new();
    for _ in parts {
        let poll = Poll::new().map_err(RunError::Start)?;
        wakers.push(Waker::new(poll.registry(), WAKER).map_err(RunError::Start)?);
        polls.push(poll);
    }
    let control = Arc::new(Control::new(wakers));
    let mut threads = Vec::new();
    for (poll, part) in polls.into_iter().zip(parts) {
        let worker = Worker::new(plan, part, poll, Arc::clone(&control), messages.clone())
            .map_err(RunError::Start)?;
        let name = format!("squall-load-{}", part.share.index);
        let guard = Guard { control: Arc::clone(&control), is_armed: true };
        let thread = thread::Builder::new().name(name).spawn(|| guard.watch(worker));
        threads.push(thread.map_err(RunError::Start)?);
    }
    Ok((control, threads))
}

/// Stops everybody when one thread comes to an unforeseen end: nobody would ever hear from it.
struct Guard {
    control: Arc<Control>,
    is_armed: bool,
}

impl Guard {
    fn watch(mut self, worker: Worker) -> Result<Outcome, WorkerError> {
        let outcome = worker.run()?;
        self.is_armed = false;
        Ok(outcome)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.is_armed {
            self.control.stop();
        }
    }
}

fn join(threads: Threads) -> Result<Vec<Outcome>, RunError> {
    let mut outcomes = Vec::new();
    for thread in threads {
        outcomes.push(thread.join().map_err(|_panic| RunError::Panicked)??);
    }
    Ok(outcomes)
}
