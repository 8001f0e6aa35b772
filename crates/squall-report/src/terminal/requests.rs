//! The ledger, as sums that a reader can add up.

use squall_stats::record::BenchRecord;

use super::screen::{KINDS_MAX, Screen, Tone};
use crate::text;

pub(super) fn write(screen: &mut Screen, record: &BenchRecord) {
    let ledger = &record.ledger;
    if let Err(error) = ledger.check() {
        // Not a fault of the server: no number of such a run is to be trusted.
        let text = format!("This is a bug of squall, please report it: {error}.");
        screen.paragraph(&text, Tone::Failure);
    }
    let missed = tone(ledger.missed);
    let scheduled = [(ledger.sent, "sent"), (ledger.missed, "missed")];
    screen.field("scheduled", &sum(ledger.scheduled, &scheduled), missed);
    let sent = [(ledger.ok, "ok"), (ledger.failed, "failed"), (ledger.unanswered, "unanswered")];
    screen.field("sent", &sum(ledger.sent, &sent), Tone::Normal);
    if ledger.failed > 0 {
        let kinds =
            text::failure_kinds(&ledger.failures, &record.status_codes, KINDS_MAX).join(" + ");
        let failed = format!("{} = {kinds}", text::count(ledger.failed));
        screen.field("failed", &failed, Tone::Failure);
    }
    if record.status_codes.keys().any(|code| *code != 200) {
        let codes = text::kinds(&record.status_codes, KINDS_MAX).join(", ");
        screen.field("status codes", &codes, Tone::Normal);
    }
}

fn sum(total: u64, parts: &[(u64, &str)]) -> String {
    let parts: Vec<String> =
        parts.iter().map(|(number, name)| format!("{} {name}", text::count(*number))).collect();
    format!("{} = {}", text::count(total), parts.join(" + "))
}

fn tone(missed: u64) -> Tone {
    if missed > 0 { Tone::Failure } else { Tone::Normal }
}
