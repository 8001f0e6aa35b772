//! How much load, and when.

use std::time::Duration;

use crate::value::{count, duration};

const MILLISECOND: Duration = Duration::from_millis(1);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Options of the load.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LoadArgs {
    /// Connections, followers not counted.
    #[arg(short, long, value_name = "COUNT", default_value = "50")]
    #[arg(value_parser = count(0, 1_000_000))]
    pub(crate) connections: usize,

    /// Threads of the generator. By default one for each core that is left for it.
    #[arg(short, long, value_name = "COUNT", value_parser = count(1, 256))]
    pub(crate) threads: Option<usize>,

    /// Requests to send, instead of a duration.
    #[arg(short = 'n', long, value_name = "COUNT", conflicts_with = "duration")]
    #[arg(value_parser = count(1, usize::MAX / 2))]
    pub(crate) requests: Option<usize>,

    /// Length of the measured window.
    #[arg(short, long, value_name = "TIME", default_value = "10s")]
    #[arg(value_parser = duration(MILLISECOND, DAY))]
    pub(crate) duration: Duration,

    /// Requests on their way on one connection at the same time.
    #[arg(short = 'P', long, value_name = "COUNT", default_value = "1")]
    #[arg(value_parser = count(1, 10_000))]
    pub(crate) pipeline: usize,

    /// Requests a second, sent on a schedule whatever the server does (an open loop). Without
    /// it each connection sends its next request when the last is answered (a closed loop).
    #[arg(short = 'R', long, value_name = "RATE")]
    pub(crate) rate: Option<String>,

    /// Shape of the schedule: constant, poisson, or ramp:A..B from A to B requests a second.
    #[arg(long, value_name = "SHAPE")]
    pub(crate) arrivals: Option<String>,

    /// Seed of everything random; reported, so that a run can be repeated.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    /// Load before the window that is counted apart: a time, or `steady` for as long as the
    /// rate changes, at most a minute. By default none.
    #[arg(long, value_name = "TIME|steady", value_parser = parse_warm_up)]
    pub(crate) warm_up: Option<WarmUpArg>,

    /// Followers of an event stream beside the requests; needs --follow.
    #[arg(long, value_name = "COUNT", requires = "follow", value_parser = count(0, 1_000_000))]
    pub(crate) followers: Option<usize>,

    /// The event stream that followers follow; one follower unless --followers says otherwise.
    #[arg(long, value_name = "URL")]
    pub(crate) follow: Option<String>,

    /// Further followers that read 4 KiB a second.
    #[arg(long, value_name = "COUNT", requires = "follow", default_value = "0")]
    #[arg(value_parser = count(0, 1_000_000))]
    pub(crate) slow_followers: usize,

    /// What the data of an event holds to be a match, for the time to the first one. By
    /// default a stamp with --body-stamp, otherwise any data.
    #[arg(long, value_name = "TEXT", requires = "follow", allow_hyphen_values = true)]
    pub(crate) follow_match: Option<String>,

    /// Processors for the generator's threads, such as 1 or 0,2-3.
    #[arg(long, value_name = "CPUS", value_parser = parse_cpus)]
    pub(crate) pin_generator: Option<Cpus>,
}

/// Processors.
#[derive(Clone, Debug)]
pub(crate) struct Cpus(pub(crate) Vec<u32>);

/// What `--warm-up` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WarmUpArg {
    For(Duration),
    Steady,
}

fn parse_warm_up(text: &str) -> Result<WarmUpArg, String> {
    if text == "steady" {
        return Ok(WarmUpArg::Steady);
    }
    duration(Duration::ZERO, DAY)(text)
        .map(WarmUpArg::For)
        .map_err(|error| format!("{error}, or steady"))
}

fn parse_cpus(text: &str) -> Result<Cpus, String> {
    squall_load::host::cpus::parse_list(text).map(Cpus).map_err(|error| error.to_string())
}
