//! The shape of an open loop.

use std::fmt;
use std::time::Duration;

/// Lowest arrival rate, in requests a second: one in 17 minutes.
pub const RATE_MIN: f64 = 0.001;

/// Highest arrival rate, in requests a second.
pub const RATE_MAX: f64 = 1e8;

/// How arrivals are spread over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// The same distance between any two.
    Constant,
    /// Independent of each other, as from many users: exponential distances.
    Poisson,
    /// A rate that changes evenly over the window, from the first to the second.
    Ramp {
        /// At the start of the window, in requests a second.
        from: f64,
        /// At its end.
        to: f64,
    },
}

/// An open loop: who arrives when, whatever the server does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrivals {
    /// How arrivals are spread.
    pub shape: Shape,
    /// Arrivals a second, the mean of a ramp.
    pub rate: f64,
}

/// Why there is no such schedule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ArrivalsError {
    /// No number, or out of range.
    #[error(
        "{text:?} is no arrival rate; write requests a second from {RATE_MIN} to 100000000, such as 1000 or 0.5"
    )]
    Rate {
        /// What was written.
        text: String,
    },
    /// No known shape.
    #[error(
        "{text:?} is no shape of arrivals; write constant, poisson, or ramp:A..B with two rates, such as ramp:100..2000"
    )]
    Shape {
        /// What was written.
        text: String,
    },
    /// A rate beside a ramp, which has its own.
    #[error("a ramp has its own rates; leave --rate out")]
    RateOfRamp,
    /// A shape without a rate.
    #[error("{0} arrivals need a rate; add --rate R")]
    NoRate(&'static str),
}

impl Arrivals {
    /// Reads `--rate` and `--arrivals`; `None` if neither asks for an open loop.
    ///
    /// # Errors
    /// [`ArrivalsError`] if they are malformed or do not fit together.
    pub fn parse(rate: Option<&str>, shape: Option<&str>) -> Result<Option<Self>, ArrivalsError> {
        let rate = rate.map(parse_rate).transpose()?;
        let needed = |name| rate.ok_or(ArrivalsError::NoRate(name));
        match shape {
            None => Ok(rate.map(|rate| Self { shape: Shape::Constant, rate })),
            Some("constant") => {
                Ok(Some(Self { shape: Shape::Constant, rate: needed("constant")? }))
            }
            Some("poisson") => Ok(Some(Self { shape: Shape::Poisson, rate: needed("poisson")? })),
            Some(text) => match (parse_ramp(text)?, rate) {
                (ramp, None) => Ok(Some(ramp)),
                (_, Some(_)) => Err(ArrivalsError::RateOfRamp),
            },
        }
    }

    /// How many arrivals lie in the first `time`; a ramp takes that long as a whole.
    #[must_use]
    pub fn expected(&self, time: Duration) -> f64 {
        self.rate * time.as_secs_f64()
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shape {
            Shape::Constant => write!(f, "constant"),
            Shape::Poisson => write!(f, "poisson"),
            Shape::Ramp { from, to } => write!(f, "ramp:{from}..{to}"),
        }
    }
}

fn parse_rate(text: &str) -> Result<f64, ArrivalsError> {
    match text.trim().parse::<f64>() {
        Ok(rate) if (RATE_MIN..=RATE_MAX).contains(&rate) => Ok(rate),
        _ => Err(ArrivalsError::Rate { text: text.to_owned() }),
    }
}

fn parse_ramp(text: &str) -> Result<Arrivals, ArrivalsError> {
    let shape = || ArrivalsError::Shape { text: text.to_owned() };
    let (from, to) =
        text.strip_prefix("ramp:").and_then(|ends| ends.split_once("..")).ok_or_else(shape)?;
    let (from, to) = (parse_rate(from)?, parse_rate(to)?);
    Ok(Arrivals { shape: Shape::Ramp { from, to }, rate: f64::midpoint(from, to) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rate: Option<&str>, shape: Option<&str>, expected: &str) {
        let arrivals = Arrivals::parse(rate, shape).unwrap().unwrap();
        assert_eq!(format!("{arrivals} {}", arrivals.rate), expected);
    }

    #[test]
    fn shapes_are_read() {
        check(Some("1000"), None, "constant 1000");
        check(Some("0.01"), Some("constant"), "constant 0.01");
        check(Some("50.5"), Some("poisson"), "poisson 50.5");
        check(None, Some("ramp:100..2000"), "ramp:100..2000 1050");
        assert_eq!(Arrivals::parse(None, None), Ok(None));
    }

    #[test]
    fn what_is_no_schedule_is_told_how_to_write_one() {
        for rate in ["0", "-1", "many", "", "inf", "NaN", "1e9", "1000/s"] {
            let error = Arrivals::parse(Some(rate), None).unwrap_err().to_string();
            assert!(error.contains("such as 1000"), "{error}");
        }
        for shape in ["ramp", "ramp:1", "uniform", "", "Ramp:1..2"] {
            let error = Arrivals::parse(None, Some(shape)).unwrap_err().to_string();
            assert!(error.contains("ramp:A..B"), "{error}");
        }
        assert_eq!(Arrivals::parse(Some("1"), Some("ramp:1..2")), Err(ArrivalsError::RateOfRamp));
        assert_eq!(Arrivals::parse(None, Some("poisson")), Err(ArrivalsError::NoRate("poisson")));
    }
}
