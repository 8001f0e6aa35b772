//! What is measured: service times, and how the server is loaded.

use std::time::Duration;

use squall_testkit::scripted::ServiceTimes;

/// Requests that leave at once in the pipelined cases.
pub(super) const PIPELINE: usize = 4;

/// Service times that the server takes, and the load that suits them.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) times: ServiceTimes,
    pub(super) connections: u32,
    /// Mean service time, which open loops are paced by.
    mean: Duration,
}

/// How requests leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Plain,
    Pipelined,
    Open,
}

impl Load {
    pub(super) const ALL: [Self; 3] = [Self::Plain, Self::Pipelined, Self::Open];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Pipelined => "pipelined",
            Self::Open => "open loop",
        }
    }
}

impl Case {
    /// Arrivals a second that keep half of the connections busy.
    pub(super) fn rate(&self) -> f64 {
        f64::from(self.connections) / self.mean.as_secs_f64() / 2.0
    }
}

/// All cases.
pub(super) fn all() -> Vec<Case> {
    let constant = |name, micros, connections| {
        let mean = Duration::from_micros(micros);
        Case { name, times: ServiceTimes::Constant(mean), connections, mean }
    };
    let mixture = |name, parts: [(u32, u64); 2], connections| {
        let micros = parts.iter().map(|(weight, micros)| u64::from(*weight) * micros).sum::<u64>();
        let weights: u32 = parts.iter().map(|(weight, _)| weight).sum();
        let mean = Duration::from_micros(micros / u64::from(weights));
        let times = parts.map(|(weight, micros)| (weight, Duration::from_micros(micros))).to_vec();
        Case { name, times: ServiceTimes::Mixture(times), connections, mean }
    };
    vec![
        constant("0.2 ms", 200, 1),
        constant("1 ms", 1_000, 4),
        constant("5 ms", 5_000, 16),
        constant("50 ms", 50_000, 32),
        mixture("90 % 1 ms, 10 % 20 ms", [(90, 1_000), (10, 20_000)], 8),
        mixture("99 % 0.2 ms, 1 % 50 ms", [(99, 200), (1, 50_000)], 4),
    ]
}
