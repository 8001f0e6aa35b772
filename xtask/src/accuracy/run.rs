//! The cases, one after the other, and what came of them.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use squall_testkit::scripted::{Service, ServiceTimes, reply};

use super::cases::{self, Case, Load, PIPELINE};
use super::measure::{Measured, measure};
use super::percentile::{PERMILLES, exact};
use super::table::{self, Row};
use crate::ci::Programs;

/// Connections of the runs that look at the rate only.
const RATE_CONNECTIONS: u32 = 16;

/// How long, and with which binary.
#[derive(Clone, Debug, clap::Args)]
pub struct AccuracyArgs {
    /// Seconds of each run.
    #[arg(long, default_value_t = 5)]
    seconds: u32,
    /// The binary to measure with; without it the release binary is built and taken.
    #[arg(long)]
    binary: Option<PathBuf>,
}

/// Runs all cases and prints a table. Times are printed, not judged; counts have to agree.
///
/// # Errors
/// A count disagrees, or the generator could not be run.
pub fn run(args: &AccuracyArgs) -> Result<()> {
    let binary = Programs::binary(args.binary.as_deref())?;
    Bench::new(&binary, args.seconds).run()
}

/// The same in about a minute.
///
/// # Errors
/// See [`run`].
pub fn run_short(binary: &Path) -> Result<()> {
    Bench::new(binary, 2).run()
}

struct Bench<'b> {
    binary: &'b Path,
    seconds: u32,
    /// The processor for the generator, if there are two.
    pin: Option<usize>,
}

impl<'b> Bench<'b> {
    /// Takes the first processor for the server, whose threads inherit it from this one.
    fn new(binary: &'b Path, seconds: u32) -> Self {
        let allowed = sched_getaffinity(None).unwrap_or_else(|_unknown| CpuSet::new());
        let processors: Vec<usize> =
            (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).take(2).collect();
        let [first, second] = processors.as_slice() else {
            return Self { binary, seconds, pin: None };
        };
        let mut own = CpuSet::new();
        own.set(*first);
        let is_pinned = sched_setaffinity(None, &own).is_ok();
        Self { binary, seconds, pin: is_pinned.then_some(*second) }
    }

    fn run(&self) -> Result<()> {
        println!("{}", table::header());
        for case in cases::all() {
            for load in Load::ALL {
                self.run_case(&case, load)?;
            }
        }
        self.run_rates()
    }

    fn run_case(&self, case: &Case, load: Load) -> Result<()> {
        let service = Service {
            reply: reply(200, b"hello"),
            times: case.times.clone(),
            ..Service::default()
        };
        let mut options = vec!["-c".to_owned(), case.connections.to_string()];
        match load {
            Load::Plain => {}
            Load::Pipelined => options.extend(["-P".to_owned(), PIPELINE.to_string()]),
            Load::Open => options.extend(["-R".to_owned(), case.rate().to_string()]),
        }
        let measured = self.measure(service, options)?;
        let times = measured.server_times(load);
        for (permille, percentile) in PERMILLES {
            let row = Row {
                case: case.name.to_owned(),
                load: load.name(),
                percentile,
                server_ns: exact(&times, permille),
                squall_ns: measured.squall_time(percentile),
            };
            println!("{}", table::line(&row));
        }
        Ok(())
    }

    /// Whether an open loop keeps its rate, up to 80 % of what this server can do at all.
    fn run_rates(&self) -> Result<()> {
        let (_, ceiling) = self.run_rate(None)?;
        println!(
            "\n{:<14}{:>14}{:>9}{:>14}{:>9}",
            "rate asked", "scheduled/s", "", "answered/s", ""
        );
        for rate in [50.0, 500.0, 5_000.0, ceiling * 0.5, ceiling * 0.8] {
            let (scheduled, answered) = self.run_rate(Some(rate))?;
            let error = |found: f64| (found / rate - 1.0) * 100.0;
            println!(
                "{rate:<14.0}{scheduled:>14.1}{:>+7.2} %{answered:>14.1}{:>+7.2} %",
                error(scheduled),
                error(answered)
            );
        }
        println!("(the ceiling is {ceiling:.0}/s, the scripted server's)");
        Ok(())
    }

    fn run_rate(&self, rate: Option<f64>) -> Result<(f64, f64)> {
        let reply = reply(200, b"hello");
        let service = Service { reply, times: ServiceTimes::None, ..Service::default() };
        let mut options = vec!["-c".to_owned(), RATE_CONNECTIONS.to_string()];
        options.extend(rate.into_iter().flat_map(|rate| ["-R".to_owned(), rate.to_string()]));
        self.measure(service, options)?.rates().context("the record has no rates")
    }

    fn measure(&self, service: Service, mut options: Vec<String>) -> Result<Measured> {
        options.extend(["-d".to_owned(), format!("{}s", self.seconds)]);
        options.extend(
            self.pin.into_iter().flat_map(|cpu| ["--pin-generator".to_owned(), cpu.to_string()]),
        );
        measure(self.binary, service, &options)
    }
}
