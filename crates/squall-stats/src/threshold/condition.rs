//! One condition, and its judgement.

use std::fmt;
use std::str::FromStr;

use super::error::ThresholdError;
use super::metric::{KNOWN, Metric};
use super::quantity::Quantity;
use crate::record::BenchRecord;

/// Characters that an operator is made of, right or wrong.
const OPERATOR_CHARACTERS: [char; 4] = ['<', '>', '=', '!'];

/// A condition under which a run counts as failed: `p99 > 20ms`, `failed > 1%`.
///
/// A time needs a unit. A share is one of the requests sent, for `missed` of those scheduled,
/// for `busy` of the window. `Display` prints the condition so that it can be read again.
///
/// ```
/// use squall_stats::threshold::Threshold;
///
/// let threshold: Threshold = "errors>0.5%".parse()?;
/// assert_eq!(threshold.to_string(), "failed > 0.5%");
/// # Ok::<(), squall_stats::threshold::ThresholdError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    metric: Metric,
    operator: Operator,
    bound: Quantity,
}

/// What a threshold says about a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// The condition does not hold.
    Passed {
        /// What the run measured.
        actual: Quantity,
    },
    /// The condition holds.
    Failed {
        /// What the run measured.
        actual: Quantity,
    },
    /// The run did not measure it.
    CannotTell {
        /// The reason, a sentence without its full stop.
        why: String,
    },
}

impl Threshold {
    /// Judges a run.
    #[must_use]
    pub fn judge(&self, record: &BenchRecord) -> Judgement {
        let actual = match self.metric.measure(record, self.bound) {
            Ok(actual) => actual,
            Err(why) => return Judgement::CannotTell { why },
        };
        let number = actual.number();
        if !number.is_finite() {
            return Judgement::CannotTell { why: format!("{} is no number", self.metric) };
        }
        if self.operator.holds(number, self.bound.number()) {
            Judgement::Failed { actual }
        } else {
            Judgement::Passed { actual }
        }
    }
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let no_operator = || ThresholdError::NoOperator { text: text.trim().to_owned() };
        let start = text.find(OPERATOR_CHARACTERS).ok_or_else(no_operator)?;
        let (name, rest) = text.split_at(start);
        let value = rest.trim_start_matches(OPERATOR_CHARACTERS);
        let (operator, _) = rest.split_at(rest.len() - value.len());
        let (name, value) = (name.trim(), value.trim());

        let unknown = || ThresholdError::UnknownMetric { metric: name.to_owned(), known: KNOWN };
        let metric = Metric::parse(name).ok_or_else(unknown)?;
        let operator = Operator::parse(operator)
            .ok_or_else(|| ThresholdError::UnknownOperator { operator: operator.to_owned() })?;
        let bound = metric.parse_bound(value).ok_or_else(|| ThresholdError::BadValue {
            metric: metric.to_string(),
            value: value.to_owned(),
            expected: metric.expected(),
        })?;
        Ok(Self { metric, operator, bound })
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.metric, self.operator.symbol(), self.bound)
    }
}

/// How the number of a run is compared with the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Operator {
    const ALL: [Self; 4] = [Self::Above, Self::AtLeast, Self::Below, Self::AtMost];

    fn symbol(self) -> &'static str {
        match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
        }
    }

    fn parse(symbol: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.symbol() == symbol)
    }

    fn holds(self, actual: f64, bound: f64) -> bool {
        match self {
            Self::Above => actual > bound,
            Self::AtLeast => actual >= bound,
            Self::Below => actual < bound,
            Self::AtMost => actual <= bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_printed_normalised() {
        let check = |text: &str, printed: &str| {
            let threshold: Threshold = text.parse().unwrap();
            assert_eq!(threshold.to_string(), printed);
            assert_eq!(printed.parse(), Ok(threshold), "{printed}");
        };
        check("p99 > 20ms", "p99 > 20ms");
        check("p99>20ms", "p99 > 20ms");
        check("  response.p50  >=  1500 us ", "p50 >= 1.5ms");
        check("service.p99.9 >= 1s", "service.p99.9 >= 1s");
        check("rate < 10000", "rate < 10000");
        check("errors > 0", "failed > 0");
        check("failed > 1%", "failed > 1%");
        check("missed > 0.01 %", "missed > 0.01%");
        check("unanswered > 0", "unanswered > 0");
        check("max > 1m", "max > 60s");
        check("mean > 5µs", "mean > 5us");
        check("delivery.p99 > 100ms", "delivery.p99 > 100ms");
        check("connect.max <= 3ns", "connect.max <= 3ns");
        check("lost > 0", "lost > 0");
        check("busy > 90%", "busy > 90%");
    }

    #[test]
    fn a_refusal_says_what_would_be_right() {
        let check = |text: &str, sentence: &str| {
            assert_eq!(text.parse::<Threshold>().unwrap_err().to_string(), sentence, "{text}");
        };
        check(
            "p99 20ms",
            "`p99 20ms` has no operator; write a metric, one of > >= < <= and a value: p99 > 20ms",
        );
        check("p99 == 20ms", "`==` is no operator; write one of > >= < <=");
        check("p99 => 20ms", "`=>` is no operator; write one of > >= < <=");
        check(
            "p99 > 20",
            "`20` is no value for p99; write a time with its unit, ns, us, ms, s or m, such as 20ms",
        );
        check(
            "rate < 10%",
            "`10%` is no value for rate; write replies a second as a plain number, such as 10000",
        );
        check(
            "errors > 1ms",
            "`1ms` is no value for failed; write a plain number, such as 0, or a share, such as 1%",
        );
        check("lost > 1%", "`1%` is no value for lost; write a plain number, such as 0");
        check("busy > 0.9", "`0.9` is no value for busy; write a share, such as 90%");
        check(
            "p95 > 20ms",
            "`p95` is no metric; there are p50, p90, p99, p99.9, max and mean of the response \
             time, the same of other times, such as service.p99, connect.p99 and delivery.p99, \
             and rate, failed, missed, unanswered, lost, repeated, reordered and busy",
        );
        for text in ["", ">", "> 20ms", "p99 >", "p99 > 20ms > 3", "💥 > 1"] {
            assert!(text.parse::<Threshold>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_operator_compares_as_it_is_written() {
        let check = |symbol: &str, holds: [bool; 3]| {
            let operator = Operator::parse(symbol).unwrap();
            assert_eq!([1.0, 2.0, 3.0].map(|actual| operator.holds(actual, 2.0)), holds);
        };
        check(">", [false, false, true]);
        check(">=", [false, true, true]);
        check("<", [true, false, false]);
        check("<=", [true, true, false]);
    }
}
