//! The result in plain words, for somebody who reads nothing else.

use squall_stats::record::{BenchRecord, DeliveryRecord, FollowersRecord, Limit, LoopKind};

use crate::text;

/// Kinds that a sentence lists; the rest is summed up.
const KINDS_MAX: usize = 3;

/// The result of a run in a few plain sentences: what was reached, what the limit was, and what
/// went wrong if anything did.
///
/// Made for `summary.sentence`; it reads everything else of the record but not that.
#[must_use]
pub fn sentence(record: &BenchRecord) -> String {
    let mut sentences = Vec::new();
    if record.ledger.ok > 0 {
        sentences.push(reached(record));
        sentences.extend(arrivals(record));
        sentences.extend(failures(record));
        sentences.extend(unanswered(record));
    } else if !is_followers_only(record) {
        sentences.push(nothing(record));
    }
    sentences.extend(record.followers.as_ref().map(followers));
    sentences.join(" ")
}

fn is_followers_only(record: &BenchRecord) -> bool {
    record.load.connections == 0 && record.followers.is_some()
}

fn reached(record: &BenchRecord) -> String {
    let rate = text::per_second(record.summary.verified_replies_per_second);
    let time = &record.latency.response;
    let slow = match (time.p99, time.max) {
        (Some(p99), _) => format!("; p99 {}", text::time(p99)),
        (None, Some(max)) => format!("; slowest {}", text::time(max)),
        (None, None) => String::new(),
    };
    format!("{rate} verified replies/s{slow}; {}.", limit(record))
}

fn limit(record: &BenchRecord) -> String {
    match record.summary.limit {
        Limit::Server => "the server was the limit".to_owned(),
        Limit::Generator => {
            let busy = text::percent(record.generator.busy_fraction);
            format!(
                "the generator was the limit: it was busy {busy} of the time; the server may be faster"
            )
        }
        Limit::Rate => match record.load.rate {
            Some(rate) => format!("the rate of {}/s was kept", text::per_second(rate)),
            None => "the rate was kept".to_owned(),
        },
        Limit::Unknown => "what the limit was cannot be told".to_owned(),
    }
}

/// What became of a schedule that was not kept.
fn arrivals(record: &BenchRecord) -> Option<String> {
    let is_open = record.load.loop_kind == LoopKind::Open;
    let missed = record.ledger.missed;
    if !is_open || (record.summary.limit == Limit::Rate && missed == 0) {
        return None;
    }
    let asked = text::per_second(record.load.rate?);
    let kept = text::per_second(record.ledger.sent as f64 / record.window.seconds);
    let missed = match missed {
        0 => String::new(),
        missed => format!(", {} missed", text::counted(missed, "arrival", "arrivals")),
    };
    Some(format!("Open loop: {asked}/s were asked for, {kept}/s kept{missed}."))
}

fn failures(record: &BenchRecord) -> Option<String> {
    let ledger = &record.ledger;
    (ledger.failed > 0).then(|| {
        format!(
            "{} of {} failed ({}).",
            text::count(ledger.failed),
            text::counted(ledger.sent, "request", "requests"),
            failure_kinds(record)
        )
    })
}

fn unanswered(record: &BenchRecord) -> Option<String> {
    let number = record.ledger.unanswered;
    let verb = if number == 1 { "was" } else { "were" };
    (number > 0).then(|| {
        format!(
            "{} {verb} still unanswered at the end.",
            text::counted(number, "request", "requests")
        )
    })
}

fn failure_kinds(record: &BenchRecord) -> String {
    text::failure_kinds(&record.ledger.failures, &record.status_codes, KINDS_MAX).join(", ")
}

fn nothing(record: &BenchRecord) -> String {
    let ledger = &record.ledger;
    let reason = if let Some(reason) = never_connected(record) {
        reason
    } else if ledger.failed > 0 && ledger.failed == ledger.sent {
        let requests = text::counted(ledger.failed, "request", "requests");
        format!("all {requests} failed ({}).", failure_kinds(record))
    } else if ledger.failed > 0 {
        let failed = text::count(ledger.failed);
        let sent = text::counted(ledger.sent, "request", "requests");
        let kinds = failure_kinds(record);
        let rest = text::count(ledger.unanswered);
        format!("{failed} of {sent} failed ({kinds}), {rest} were unanswered at the end.")
    } else if ledger.sent > 0 {
        format!("none of {} was answered.", text::counted(ledger.sent, "request", "requests"))
    } else {
        "no request was sent.".to_owned()
    };
    format!("0 verified replies: {reason}")
}

/// Why no connection was ever open. A load that connects ahead of the window has these failures
/// beside the ledger, one that connects for each request has them in it.
fn never_connected(record: &BenchRecord) -> Option<String> {
    let beside = &record.connections.failed;
    let within = &record.ledger.failures.connect;
    let failed = if beside.is_empty() { within } else { beside };
    if record.connections.opened > 0 || failed.is_empty() {
        return None;
    }
    if failed.len() == 1 && failed.contains_key("ECONNREFUSED") {
        let question = "Is the server running?";
        return Some(format!("every connection was refused (ECONNREFUSED). {question}"));
    }
    Some(format!("no connection could be opened ({}).", text::kinds(failed, KINDS_MAX).join(", ")))
}

fn followers(followers: &FollowersRecord) -> String {
    let asked = text::counted(followers.asked, "follower", "followers");
    let rate = text::per_second(followers.events_per_second);
    let established = text::count(followers.established);
    let delivery = followers.delivery.as_ref().map(delivery).unwrap_or_default();
    format!("{established} of {asked} were established and received {rate} events/s{delivery}.")
}

fn delivery(delivery: &DeliveryRecord) -> String {
    let slow = match delivery.time.p99 {
        Some(p99) => format!(", p99 {} after the append", text::time(p99)),
        None => String::new(),
    };
    let wrong: Vec<String> = [
        (delivery.lost, "lost"),
        (delivery.undelivered, "not delivered in time"),
        (delivery.repeated, "repeated"),
        (delivery.reordered, "reordered"),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, what)| format!("{} {what}", text::count(number)))
    .collect();
    match wrong.as_slice() {
        [] => format!("{slow}; none was lost, repeated or reordered"),
        wrong => format!("{slow}; {}", wrong.join(", ")),
    }
}
