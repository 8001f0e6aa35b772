//! What a reader of the numbers has to know.

use squall_stats::ledger::Ledger;
use squall_stats::record::GeneratorRecord;

use super::conductor::Conducted;
use super::results::Sum;
use crate::host::{errno, ports};
use crate::plan::LoadPlan;

/// Share of stolen processor time from which on times are not to be trusted.
const STEAL_MAX: f64 = 0.02;

/// One sentence for each thing to know.
pub(super) fn of(
    plan: &LoadPlan,
    sum: &Sum,
    ledger: &Ledger,
    generator: &GeneratorRecord,
    conducted: &Conducted,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if generator.saturated && ledger.ok > 0 {
        warnings.push(format!(
            "the generator was busy {:.0} % of the time: its own limit is near, the server's may be \
             farther",
            generator.busy_fraction * 100.0
        ));
    }
    if ledger.missed > 0 {
        warnings.push(format!(
            "{} of {} arrivals were never sent: percentiles leave out the longest waits",
            ledger.missed, ledger.scheduled
        ));
    }
    warnings.extend(connecting(sum));
    if sum.recorder.connections.unmatched > 0 {
        warnings.push(format!(
            "the server sent bytes that nobody had asked for on {} connections, which were closed",
            sum.recorder.connections.unmatched
        ));
    }
    if conducted.is_steady == Some(false) {
        warnings.push("the rate did not get steady during the warm-up".to_owned());
    }
    if let Some(machine) = &conducted.machine
        && machine.steal_fraction() > STEAL_MAX
    {
        warnings.push(format!(
            "{:.1} % of the processor time went to other machines on this host",
            machine.steal_fraction() * 100.0
        ));
    }
    if plan.server_pid.is_some()
        && conducted.server.as_ref().is_some_and(|server| server.is_incomplete())
    {
        warnings.push("the server's process ended during the window".to_owned());
    }
    warnings
}

/// Why connections could not be opened, in words.
fn connecting(sum: &Sum) -> Vec<String> {
    let connections = &sum.recorder.connections;
    let mut names: Vec<String> = connections.record_of().failed.into_keys().collect();
    names.extend(sum.seen.failed.keys().cloned());
    names.sort_unstable();
    names.dedup();
    names
        .iter()
        .filter_map(|name| {
            if name == "EADDRNOTAVAIL" {
                return Some(ports::explain_exhaustion(connections.opened));
            }
            errno::explain(name).map(|sentence| format!("{name}: {sentence}"))
        })
        .collect()
}
