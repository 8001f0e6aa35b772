//! The numbers of a run that a threshold may name.

use std::fmt;

use super::quantity::Quantity;
use crate::histogram::Quantile;
use crate::record::{BenchRecord, DeliveryRecord, LatencySummary};

/// What an unknown metric is answered with.
pub(super) const KNOWN: &str = "p50, p90, p99, p99.9, max and mean of the response time, \
    the same of other times, such as service.p99, connect.p99 and delivery.p99, \
    and rate, failed, missed, unanswered, lost, repeated, reordered and busy";

const NO_DELIVERY: &str = "no follower received a stamped payload";

/// One number of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metric {
    Time(Time, Statistic),
    Rate,
    Failed,
    Missed,
    Unanswered,
    Lost,
    Repeated,
    Reordered,
    Busy,
}

/// One distribution of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    Response,
    Service,
    Connect,
    Delivery,
}

/// One number of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statistic {
    P50,
    P90,
    P99,
    P999,
    Max,
    Mean,
}

impl Metric {
    pub(super) fn parse(name: &str) -> Option<Self> {
        let metric = match name {
            "rate" => Self::Rate,
            "failed" | "errors" => Self::Failed,
            "missed" => Self::Missed,
            "unanswered" => Self::Unanswered,
            "lost" => Self::Lost,
            "repeated" => Self::Repeated,
            "reordered" => Self::Reordered,
            "busy" => Self::Busy,
            // The point of p99.9 is not the one behind a name, so that is tried first.
            _ => match Statistic::parse(name) {
                Some(statistic) => Self::Time(Time::Response, statistic),
                None => {
                    let (time, statistic) = name.split_once('.')?;
                    Self::Time(Time::parse(time)?, Statistic::parse(statistic)?)
                }
            },
        };
        Some(metric)
    }

    /// Reads a value in a unit of this metric.
    pub(super) fn parse_bound(self, text: &str) -> Option<Quantity> {
        match self {
            Self::Time(..) => Quantity::parse_time(text),
            Self::Rate => Quantity::parse_rate(text),
            Self::Failed | Self::Missed | Self::Unanswered => {
                Quantity::parse_percent(text).or_else(|| Quantity::parse_count(text))
            }
            Self::Lost | Self::Repeated | Self::Reordered => Quantity::parse_count(text),
            Self::Busy => Quantity::parse_percent(text),
        }
    }

    /// What [`parse_bound`](Self::parse_bound) takes, in words.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Time(..) => "a time with its unit, ns, us, ms, s or m, such as 20ms",
            Self::Rate => "replies a second as a plain number, such as 10000",
            Self::Failed | Self::Missed | Self::Unanswered => {
                "a plain number, such as 0, or a share, such as 1%"
            }
            Self::Lost | Self::Repeated | Self::Reordered => "a plain number, such as 0",
            Self::Busy => "a share, such as 90%",
        }
    }

    /// The number of this run, in the unit of `bound`; or why it cannot be told.
    pub(super) fn measure(self, record: &BenchRecord, bound: Quantity) -> Result<Quantity, String> {
        let ledger = &record.ledger;
        let of_sent = |count| match bound {
            Quantity::Percent(_) => share(count, ledger.sent, "sent"),
            _ => Ok(count_of(count)),
        };
        match self {
            Self::Time(time, statistic) => statistic.of(time.of(record)?).map(Quantity::Ns),
            Self::Rate => Ok(Quantity::PerSecond(record.summary.verified_replies_per_second)),
            Self::Failed => of_sent(ledger.failed),
            Self::Unanswered => of_sent(ledger.unanswered),
            Self::Missed => match bound {
                Quantity::Percent(_) => share(ledger.missed, ledger.scheduled, "scheduled"),
                _ => Ok(count_of(ledger.missed)),
            },
            Self::Lost => Ok(count_of(delivery(record)?.lost)),
            Self::Repeated => Ok(count_of(delivery(record)?.repeated)),
            Self::Reordered => Ok(count_of(delivery(record)?.reordered)),
            Self::Busy => Ok(Quantity::Percent(record.generator.busy_fraction * 100.0)),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Time(Time::Response, statistic) => return f.write_str(statistic.name()),
            Self::Time(time, statistic) => {
                return write!(f, "{}.{}", time.name(), statistic.name());
            }
            Self::Rate => "rate",
            Self::Failed => "failed",
            Self::Missed => "missed",
            Self::Unanswered => "unanswered",
            Self::Lost => "lost",
            Self::Repeated => "repeated",
            Self::Reordered => "reordered",
            Self::Busy => "busy",
        };
        f.write_str(name)
    }
}

impl Time {
    const ALL: [Self; 4] = [Self::Response, Self::Service, Self::Connect, Self::Delivery];

    fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Service => "service",
            Self::Connect => "connect",
            Self::Delivery => "delivery",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|time| time.name() == name)
    }

    fn of(self, record: &BenchRecord) -> Result<&LatencySummary, String> {
        match self {
            Self::Response => Ok(&record.latency.response),
            Self::Service => Ok(&record.latency.service),
            Self::Connect => Ok(&record.latency.connect),
            Self::Delivery => delivery(record).map(|delivery| &delivery.time),
        }
    }
}

impl Statistic {
    const ALL: [Self; 6] = [Self::P50, Self::P90, Self::P99, Self::P999, Self::Max, Self::Mean];

    fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::Max => "max",
            Self::Mean => "mean",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|statistic| statistic.name() == name)
    }

    /// In nanoseconds; or why it cannot be told.
    fn of(self, summary: &LatencySummary) -> Result<f64, String> {
        let percentile = |value: Option<u64>, quantile: Quantile| {
            value.map(|ns| ns as f64).ok_or_else(|| match quantile.check(summary.count) {
                Err(too_few) => too_few.to_string(),
                Ok(()) => format!("the record has no {quantile}"),
            })
        };
        let no_sample = || "there are no samples".to_owned();
        match self {
            Self::P50 => percentile(summary.p50, Quantile::P50),
            Self::P90 => percentile(summary.p90, Quantile::P90),
            Self::P99 => percentile(summary.p99, Quantile::P99),
            Self::P999 => percentile(summary.p999, Quantile::P999),
            Self::Max => summary.max.map(|ns| ns as f64).ok_or_else(no_sample),
            Self::Mean => summary.mean.ok_or_else(no_sample),
        }
    }
}

fn count_of(count: u64) -> Quantity {
    Quantity::Count(count as f64)
}

fn share(count: u64, whole: u64, whole_name: &str) -> Result<Quantity, String> {
    if whole == 0 {
        return Err(format!("no request was {whole_name}"));
    }
    Ok(Quantity::Percent(count as f64 * 100.0 / whole as f64))
}

fn delivery(record: &BenchRecord) -> Result<&DeliveryRecord, String> {
    let followers = record.followers.as_ref().ok_or("there were no followers")?;
    followers.delivery.as_ref().ok_or_else(|| NO_DELIVERY.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The metrics that are no times.
    const OTHERS: [Metric; 8] = [
        Metric::Rate,
        Metric::Failed,
        Metric::Missed,
        Metric::Unanswered,
        Metric::Lost,
        Metric::Repeated,
        Metric::Reordered,
        Metric::Busy,
    ];

    #[test]
    fn every_metric_reads_its_own_name() {
        let times = Time::ALL.into_iter().flat_map(|time| {
            Statistic::ALL.into_iter().map(move |statistic| Metric::Time(time, statistic))
        });
        for metric in times.chain(OTHERS) {
            assert_eq!(Metric::parse(&metric.to_string()), Some(metric));
        }
    }

    #[test]
    fn the_list_names_every_metric() {
        let named: Vec<Metric> = KNOWN.split([',', ' ']).filter_map(Metric::parse).collect();
        for statistic in Statistic::ALL {
            assert!(named.contains(&Metric::Time(Time::Response, statistic)), "{statistic:?}");
        }
        for time in [Time::Service, Time::Connect, Time::Delivery] {
            assert!(named.contains(&Metric::Time(time, Statistic::P99)), "{time:?}");
        }
        for metric in OTHERS {
            assert!(named.contains(&metric), "{metric}");
        }
    }

    #[test]
    fn names_that_are_close_are_no_metrics() {
        for name in ["", "p95", "p999", "P99", "99", "service", "service.", ".p99", "service.rate"]
        {
            assert_eq!(Metric::parse(name), None, "{name}");
        }
    }
}
