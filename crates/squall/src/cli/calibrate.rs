//! `squall calibrate`, and the server that it starts for itself.

use std::net::{AddrParseError, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use squall_load::host::cpus::CPUS_MAX;

use crate::cli::ReportFormat;

/// Shortest window of a step, in seconds.
const SECONDS_MIN: f64 = 0.1;

/// Longest window of a step, in seconds: all steps have to end before the server does.
const SECONDS_MAX: f64 = 60.0;

/// Options of `squall calibrate`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CalibrateArgs {
    /// Measured seconds of each of the six steps, from 0.1 to 60.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = parse_seconds)]
    pub(crate) seconds: Duration,

    /// Form of what is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,

    /// File for the result as JSON, written when the last step is over.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Options of the server that is measured.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CalibrateServerArgs {
    /// Address to listen on; port 0 takes a free one.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    #[arg(value_parser = parse_address)]
    pub(crate) listen: SocketAddr,

    /// Processor to stay on.
    #[arg(long, value_name = "CPU")]
    #[arg(value_parser = clap::value_parser!(u32).range(..i64::from(CPUS_MAX)))]
    pub(crate) pin: Option<u32>,
}

fn parse_seconds(text: &str) -> Result<Duration, &'static str> {
    match text.parse::<f64>() {
        Ok(seconds) if (SECONDS_MIN..=SECONDS_MAX).contains(&seconds) => {
            Ok(Duration::from_secs_f64(seconds))
        }
        _ => Err("write seconds from 0.1 to 60, such as 2 or 0.5"),
    }
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|error: AddrParseError| {
        format!("{error}; write an IP address and a port, such as 127.0.0.1:0")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_may_have_a_fraction() {
        assert_eq!(parse_seconds("2"), Ok(Duration::from_secs(2)));
        assert_eq!(parse_seconds("0.1"), Ok(Duration::from_millis(100)));
        for text in ["", "0", "0.09", "61", "NaN", "inf", "-1", "2s"] {
            assert!(parse_seconds(text).is_err(), "{text}");
        }
    }
}
