//! One screen for people.

use super::machine::Machine;
use super::record::{Calibration, Setup, Step, StepLimit};

/// Steps that a whole calibration has.
const STEPS: usize = 6;

/// Columns of a line.
const WIDTH: usize = 100;

/// The report: what was measured, the steps, and what they mean.
pub(super) fn of(calibration: &Calibration) -> String {
    let mut text = String::new();
    paragraph(&mut text, &machine(&calibration.machine));
    paragraph(&mut text, &setup(&calibration.setup));
    text.push('\n');
    table(&mut text, &calibration.steps);
    text.push('\n');
    for sentence in &calibration.meaning {
        paragraph(&mut text, sentence);
    }
    if calibration.interrupted {
        let finished = calibration.steps.len();
        let cut =
            format!("Interrupted after {finished} of {STEPS} steps; nothing is kept for bench.");
        paragraph(&mut text, &cut);
    }
    text
}

fn machine(machine: &Machine) -> String {
    let processors = match machine.cpus_allowed.len() {
        1 => "1 processor".to_owned(),
        count => format!("{count} processors"),
    };
    let build = if machine.optimized { "" } else { ", compiled without optimization" };
    format!(
        "squall {}{build}, on {}, {processors}, Linux {}.",
        machine.squall, machine.cpu_model, machine.kernel
    )
}

fn setup(setup: &Setup) -> String {
    let threads = match setup.generator_threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    let cpus: Vec<String> = setup.generator_cpus.iter().map(ToString::to_string).collect();
    let places = setup.server_cpu.map_or_else(
        || format!("{threads} of the generator and one of the server share a processor"),
        |server| {
            format!(
                "{threads} of the generator on processor {}, the server on {server}",
                cpus.join(",")
            )
        },
    );
    format!(
        "{} connections to the smallest possible server; {places}; {} s a step.",
        setup.connections, setup.seconds
    )
}

fn table(text: &mut String, steps: &[Step]) {
    let titles = [TITLES, UNITS].map(|cells| cells.map(str::to_owned));
    for row_cells in titles.into_iter().chain(steps.iter().map(cells)) {
        text.push_str(&row(&row_cells));
        text.push('\n');
    }
}

const TITLES: [&str; 9] =
    ["", "verified", "response", "time", "generator", "CPU per", "server", "CPU per", ""];
const UNITS: [&str; 9] =
    ["step", "replies/s", "p50", "p99", "busy", "request", "busy", "reply", "limit"];

fn cells(step: &Step) -> [String; 9] {
    let time_of = |value: Option<f64>| value.map_or("n/a".to_owned(), time);
    let whole = |value: Option<u64>| time_of(value.map(|ns| ns as f64));
    [
        step.name.clone(),
        per_second(step.verified_replies_per_second),
        whole(step.response.p50),
        whole(step.response.p99),
        percent(step.generator_busy_fraction),
        time_of(step.generator_cpu_per_request_ns),
        step.server_cores.map_or("n/a".to_owned(), percent),
        time_of(step.server_cpu_per_reply_ns),
        limit(step.limit).to_owned(),
    ]
}

/// The first column and the last lean to the left, numbers to the right.
fn row(cells: &[String; 9]) -> String {
    let [step, rate, p50, p99, generator, request, server, reply, limit] = cells;
    let row = format!(
        "{step:<23}{rate:>10}{p50:>9}{p99:>9}{generator:>11}{request:>9}{server:>8}{reply:>9}  \
         {limit}"
    );
    row.trim_end().to_owned()
}

fn limit(limit: StepLimit) -> &'static str {
    match limit {
        StepLimit::Server => "server",
        StepLimit::Generator => "generator",
        StepLimit::Both => "both",
        StepLimit::Rate => "rate",
        StepLimit::Machine => "machine",
    }
}

/// Adds a line, broken between words where it gets too long.
fn paragraph(text: &mut String, words: &str) {
    let mut width = 0;
    for word in words.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH {
            text.push('\n');
            width = 0;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += length;
    }
    text.push('\n');
}

/// Nanoseconds in a fitting unit with three digits, such as `87.3 µs`.
pub(super) fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 999.5 => (ns, "ns"),
        ns if ns < 999.5e3 => (ns / 1e3, "µs"),
        ns if ns < 999.5e6 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let digits = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}")
}

/// A rate in whole numbers with separated thousands, such as `38,412`.
pub(super) fn per_second(rate: f64) -> String {
    let digits = format!("{rate:.0}");
    let mut text = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share of one, such as `43 %` or `4.3 %`.
pub(super) fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

#[cfg(test)]
mod tests {
    use squall_stats::record::LatencySummary;

    use super::super::meaning;
    use super::super::record::{Ceiling, SCHEMA};
    use super::*;

    fn summary(p50: u64, p99: u64) -> LatencySummary {
        LatencySummary { p50: Some(p50), p99: Some(p99), ..LatencySummary::default() }
    }

    fn step(name: &str, rate: Option<f64>, reached: f64, limit: StepLimit) -> Step {
        Step {
            name: name.to_owned(),
            pipeline: 1,
            rate,
            verified_replies_per_second: reached,
            scheduled: 200_000,
            missed: 0,
            failed: 0,
            response: summary(589_000, 1_980_000),
            lag: summary(38_900, 412_000),
            generator_busy_fraction: 0.943,
            generator_cpu_per_request_ns: Some(9_780.0),
            server_cpu_per_reply_ns: Some(985.0),
            server_cores: Some(0.0812),
            limit,
        }
    }

    fn calibration() -> Calibration {
        let ceiling = |pipeline, verified_replies_per_second| Ceiling {
            pipeline,
            verified_replies_per_second,
        };
        Calibration {
            schema: SCHEMA.to_owned(),
            started_at: None,
            interrupted: false,
            machine: Machine {
                cpu_model: "Some CPU @ 2 GHz".to_owned(),
                cpus_allowed: vec![0, 1],
                kernel: "6.1.0".to_owned(),
                squall: "0.1.0".to_owned(),
                optimized: true,
            },
            setup: Setup {
                seconds: 2.0,
                warm_up_seconds: 0.5,
                connections: 64,
                generator_threads: 1,
                generator_cpus: vec![1],
                server_cpu: Some(0),
            },
            steps: vec![
                step("closed", None, 96_293.4, StepLimit::Generator),
                step("open at 80 % of closed", Some(77_000.0), 76_990.0, StepLimit::Rate),
            ],
            ceilings: vec![ceiling(1, 96_293.4), ceiling(16, 827_824.0)],
            clock_ns: 24.1,
            timer_lag: Some(summary(38_900, 412_000)),
            meaning: Vec::new(),
        }
    }

    fn report(mut calibration: Calibration) -> String {
        calibration.meaning = meaning::of(&calibration);
        of(&calibration)
    }

    #[test]
    fn a_calibration_is_one_screen_of_a_hundred_columns() {
        let text = report(calibration());
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        insta::assert_snapshot!(text);
    }

    /// What was not reached, not measured and not told apart is said to be so.
    #[test]
    fn a_poor_machine_is_told_what_it_did_not_reach() {
        let mut poor = calibration();
        poor.interrupted = true;
        poor.machine.cpus_allowed = vec![0];
        poor.machine.optimized = false;
        poor.setup.server_cpu = None;
        poor.setup.generator_cpus.clear();
        poor.steps[0].limit = StepLimit::Machine;
        poor.steps[0].server_cores = None;
        poor.steps[1].verified_replies_per_second = 70_000.0;
        poor.timer_lag = Some(LatencySummary::default());
        insta::assert_snapshot!(report(poor));
    }

    #[test]
    fn numbers_have_a_unit_and_as_many_digits_as_they_deserve() {
        let check = |text: String, expected: &str| assert_eq!(text, expected);
        check(time(24.13), "24.1 ns");
        check(time(999.6), "1.00 µs");
        check(time(87_345.0), "87.3 µs");
        check(time(4_104_000.0), "4.10 ms");
        check(time(2e9), "2.00 s");
        check(per_second(999.4), "999");
        check(per_second(38_411.7), "38,412");
        check(per_second(1_234_567.0), "1,234,567");
        check(percent(0.996), "100 %");
        check(percent(0.0123), "1.2 %");
    }
}
