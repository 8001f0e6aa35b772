//! What the numbers mean, in plain sentences.

use squall_stats::record::LatencySummary;

use super::record::{Calibration, Step, StepLimit};
use super::text::{per_second, percent, time};

/// Share of the arrivals that are answered inside the window where the rate is kept.
const KEPT_MIN: f64 = 0.99;

/// One sentence for each thing that was found; fewer if it was interrupted.
pub(super) fn of(calibration: &Calibration) -> Vec<String> {
    let plain = calibration.steps.first();
    let fastest_open = calibration.steps.iter().filter(|step| step.rate.is_some());
    let fastest_open =
        fastest_open.max_by(|a, b| a.rate.unwrap_or(0.0).total_cmp(&b.rate.unwrap_or(0.0)));
    let sentences = [
        plain.map(|plain| ceiling(plain, calibration)),
        fastest_open.and_then(schedule),
        Some(clock(calibration.clock_ns, plain)),
        calibration.timer_lag.as_ref().map(timer),
    ];
    sentences.into_iter().flatten().collect()
}

fn ceiling(plain: &Step, calibration: &Calibration) -> String {
    let pipelined = calibration.ceilings.iter().filter(|ceiling| ceiling.pipeline > 1);
    let pipelined: Vec<String> = pipelined
        .map(|it| {
            format!("{} pipelined by {}", per_second(it.verified_replies_per_second), it.pipeline)
        })
        .collect();
    let pipelined =
        if pipelined.is_empty() { String::new() } else { format!(" ({})", pipelined.join(", ")) };
    let rate = per_second(plain.verified_replies_per_second);
    let whose = match plain.limit {
        StepLimit::Generator => "measures the generator, not the server",
        _ => "may measure this machine, not the server",
    };
    format!("Ceiling: a bench that comes close to {rate} replies/s{pipelined} {whose}.")
}

fn schedule(step: &Step) -> Option<String> {
    let asked = step.rate?;
    let answered = step.verified_replies_per_second;
    let advice = if answered < asked * KEPT_MIN { "; ask for less than that" } else { "" };
    let (asked, answered) = (per_second(asked), per_second(answered));
    Some(format!("Schedule: of {asked} arrivals/s {answered} were answered in time{advice}."))
}

fn clock(clock_ns: f64, plain: Option<&Step>) -> String {
    let cost = time(clock_ns);
    match plain.and_then(|plain| plain.generator_cpu_per_request_ns) {
        Some(request_ns) if request_ns > 0.0 => format!(
            "Clock: one reading takes {cost}, {} of the {} that the generator takes for a request.",
            percent(clock_ns / request_ns),
            time(request_ns)
        ),
        _ => format!("Clock: one reading takes {cost}."),
    }
}

fn timer(lag: &LatencySummary) -> String {
    let late = |value: Option<u64>, which| value.map(|ns| format!("{} {which}", time(ns as f64)));
    let late = [late(lag.p50, "late in the median"), late(lag.p99, "at p99")];
    let late: Vec<String> = late.into_iter().flatten().collect();
    if late.is_empty() {
        return "Timers: too few requests left on a schedule to tell how late.".to_owned();
    }
    format!(
        "Timers: at 1,000/s requests leave {}; that much of a response time is the generator's.",
        late.join(" and ")
    )
}
