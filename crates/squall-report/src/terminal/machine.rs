//! What the two sides took from the machine.

use squall_stats::record::{BenchRecord, GeneratorRecord, ServerRecord};

use super::screen::{Screen, Tone};
use crate::text;

pub(super) fn write_server(screen: &mut Screen, server: &ServerRecord) {
    let per_reply = match server.cpu_per_reply_ns {
        Some(nanoseconds) => format!(", {} a reply", text::time_ns(nanoseconds)),
        None => String::new(),
    };
    let text = format!(
        "CPU {:.2} s user + {:.2} s system = {:.2} cores{per_reply}; memory up to {}; {}, {}; \
         switches {} voluntary, {} involuntary",
        server.cpu_user_seconds,
        server.cpu_system_seconds,
        server.cores,
        text::bytes(server.rss_bytes_max),
        text::counted(server.processes, "process", "processes"),
        text::counted(server.threads, "thread", "threads"),
        text::count(server.voluntary_switches),
        text::count(server.involuntary_switches),
    );
    screen.field("server", &text, Tone::Normal);
}

pub(super) fn write_generator(screen: &mut Screen, record: &BenchRecord) {
    let generator = &record.generator;
    let per_request = match generator.cpu_per_request_ns {
        Some(nanoseconds) => format!(", {} a request", text::time_ns(nanoseconds)),
        None => String::new(),
    };
    let text = format!(
        "busy {}; CPU {:.2} s user + {:.2} s system{per_request}; memory {}{}; {}",
        text::percent(generator.busy_fraction),
        generator.cpu_user_seconds,
        generator.cpu_system_seconds,
        text::bytes(generator.rss_bytes),
        lag(generator) + &pickup(record),
        ceiling(record),
    );
    let tone = if generator.saturated { Tone::Warning } else { Tone::Normal };
    screen.field("generator", &text, tone);
}

/// How late requests left, by the highest percentile that can be told.
fn lag(generator: &GeneratorRecord) -> String {
    let lag = &generator.lag;
    match (lag.p99, lag.max) {
        (Some(p99), Some(max)) => {
            format!("; sent late by p99 {}, max {}", text::time(p99), text::time(max))
        }
        (None, Some(max)) => format!("; sent late by max {}", text::time(max)),
        (_, None) => String::new(),
    }
}

/// What the generator itself added to the times, where it is a tenth of them or more.
fn pickup(record: &BenchRecord) -> String {
    let own = record.generator.pickup.mean.unwrap_or(0.0);
    match record.latency.service.mean {
        Some(all) if own >= all / 10.0 => {
            let own = std::time::Duration::from_secs_f64(own / 1e9).as_nanos();
            let own = u64::try_from(own).unwrap_or(u64::MAX);
            format!("; replies waited for it for {} in the mean", text::time(own))
        }
        _ => String::new(),
    }
}

fn ceiling(record: &BenchRecord) -> String {
    match record.generator.ceiling_per_second {
        Some(ceiling) if ceiling > 0.0 => format!(
            "at {} of this machine's ceiling of {}/s (squall calibrate)",
            text::percent(record.summary.verified_replies_per_second / ceiling),
            text::per_second(ceiling),
        ),
        _ => "this machine's ceiling is not known (run squall calibrate)".to_owned(),
    }
}
