//! The steps: the smallest server under six loads.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use squall_load::host::cpus;
use squall_load::plan::LoadPlan;
use squall_load::run::{About, RunHandle, run};
use squall_load::schedule::{Arrivals, Shape};
use squall_load::spec::{
    BodySpec, Expectations, Length, LoadSpec, NetworkSpec, RequestSpec, WarmUp,
};
use squall_stats::record::BenchRecord;

use super::child::MeasuredServer;
use super::record::{Setup, Step};
use crate::cli::VERSION;
use crate::exit::Failure;
use crate::interrupt::Interrupt;

/// Depths of pipelining that have a ceiling; the first is plain.
const DEPTHS: [usize; 3] = [1, 5, 16];

/// Shares of the plain ceiling at which an open loop is tried, in percent.
const PERCENTS: [u32; 2] = [50, 80];

/// Arrivals a second at which the generator has nothing to do but to be on time.
pub(super) const IDLE_RATE: f64 = 1_000.0;

/// Connections of every step.
const CONNECTIONS: usize = 64;

/// Load before each window.
const WARM_UP: Duration = Duration::from_millis(500);

/// Longest wait for a reply or a connection, which are on this machine.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// One load.
#[derive(Clone, Debug)]
struct Load {
    name: String,
    pipeline: usize,
    rate: Option<f64>,
}

/// The server, and how it is loaded.
#[derive(Debug)]
pub(super) struct Bench {
    server: MeasuredServer,
    setup: Setup,
    handle: RunHandle,
    interrupt: Interrupt,
}

impl Bench {
    /// Starts the server, apart from the generator where there are two processors. Windows have
    /// `length`.
    pub(super) fn start(length: Duration) -> Result<Self, Failure> {
        let handle = RunHandle::new();
        let interrupt = Interrupt::ends(&handle)?;
        let allowed = cpus::allowed();
        let (server_cpu, generator_cpus) = match allowed.as_slice() {
            [first, rest @ ..] if !rest.is_empty() => (Some(*first), rest.to_vec()),
            _ => (None, Vec::new()),
        };
        let setup = Setup {
            seconds: length.as_secs_f64(),
            warm_up_seconds: WARM_UP.as_secs_f64(),
            connections: CONNECTIONS,
            generator_threads: cpus::spare().min(CONNECTIONS),
            generator_cpus,
            server_cpu,
        };
        Ok(Self { server: MeasuredServer::start(server_cpu)?, setup, handle, interrupt })
    }

    /// What all steps have in common.
    pub(super) fn setup(&self) -> &Setup {
        &self.setup
    }

    /// What a signal asked for, if there was one.
    pub(super) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Runs all steps; only those before a signal, if one comes. Tells when the first began.
    pub(super) fn run(&self) -> Result<(Vec<Step>, Option<String>), Failure> {
        let mut live = Live::new(DEPTHS.len() + PERCENTS.len() + 1);
        let mut steps = Vec::new();
        let mut started_at = None;
        let mut open = Vec::new();
        for load in DEPTHS.map(closed_loop) {
            let Some(record) = self.step(&load, &mut live)? else {
                return Ok((steps, started_at));
            };
            if open.is_empty() {
                open = open_loops(record.summary.verified_replies_per_second);
                started_at = Some(record.started_at.clone());
            }
            steps.push(Step::of(load.name, load.pipeline, &record));
        }
        for load in open {
            let Some(record) = self.step(&load, &mut live)? else {
                break;
            };
            steps.push(Step::of(load.name, load.pipeline, &record));
        }
        Ok((steps, started_at))
    }

    /// Runs one; `None` if a signal cut it short.
    fn step(&self, load: &Load, live: &mut Live) -> Result<Option<BenchRecord>, Failure> {
        live.show(&load.name);
        let spec = self.spec(load);
        let plan = LoadPlan::build(&spec).context("cannot load the server")?;
        let about = About { squall: VERSION.clone(), ceiling_per_second: None };
        let record = run(&plan, &about, &self.handle, &mut |_progress| {})
            .context("cannot load the server")?;
        live.clear();
        if self.interrupt.exit().is_some() || record.window.interrupted {
            return Ok(None);
        }
        if record.ledger.ok == 0 {
            return Err(anyhow!("the server to be measured gave no verified reply").into());
        }
        Ok(Some(record))
    }

    fn spec(&self, load: &Load) -> LoadSpec {
        LoadSpec {
            requests: vec![RequestSpec {
                method: None,
                url: self.server.url().to_owned(),
                weight: 1,
            }],
            headers: Vec::new(),
            body: BodySpec::None,
            http10: false,
            keep_alive: true,
            requests_per_connection: None,
            connections: self.setup.connections,
            threads: Some(self.setup.generator_threads),
            pipeline: load.pipeline,
            arrivals: load.rate.map(|rate| Arrivals { shape: Shape::Constant, rate }),
            seed: 1,
            length: Length::Time(Duration::from_secs_f64(self.setup.seconds)),
            warm_up: WarmUp::For(WARM_UP),
            expect: Expectations::default(),
            timeout: WAIT_MAX,
            connect_timeout: WAIT_MAX,
            follow: None,
            network: NetworkSpec::default(),
            pin: self.setup.generator_cpus.clone(),
            server_pid: Some(self.server.id()),
        }
    }
}

fn closed_loop(pipeline: usize) -> Load {
    let name = match pipeline {
        1 => "closed".to_owned(),
        depth => format!("closed, pipelined by {depth}"),
    };
    Load { name, pipeline, rate: None }
}

/// The open loops on a machine with a plain `ceiling`.
fn open_loops(ceiling: f64) -> Vec<Load> {
    let share = |percent: u32| Load {
        name: format!("open at {percent} % of closed"),
        pipeline: 1,
        rate: Some(ceiling * f64::from(percent) / 100.0),
    };
    let idle = Load { name: "open at 1,000/s".to_owned(), pipeline: 1, rate: Some(IDLE_RATE) };
    PERCENTS.map(share).into_iter().chain([idle]).collect()
}

/// Says on a terminal which step goes on.
#[derive(Debug)]
struct Live {
    is_shown: bool,
    begun: usize,
    steps: usize,
}

impl Live {
    fn new(steps: usize) -> Self {
        Self { is_shown: io::stderr().is_terminal(), begun: 0, steps }
    }

    fn show(&mut self, name: &str) {
        self.begun += 1;
        self.write(&format!("step {} of {}: {name}", self.begun, self.steps));
    }

    fn clear(&self) {
        self.write("");
    }

    fn write(&self, line: &str) {
        if self.is_shown {
            // A terminal that is gone is no reason to stop measuring.
            write!(io::stderr(), "\r{line}\x1b[K").ok();
            io::stderr().flush().ok();
        }
    }
}
