//! What was loaded, and how.

use squall_stats::record::{BenchRecord, LoopKind, RequestRecord};

use super::screen::{Screen, Tone};
use crate::text;

/// Most requests that are listed; a load of many is in the JSON.
const REQUESTS_MAX: usize = 3;

pub(super) fn write(screen: &mut Screen, record: &BenchRecord) {
    screen.field("target", &target(record), Tone::Normal);
    screen.field("load", &load(record), Tone::Normal);
    screen.field("window", &window(record), Tone::Normal);
}

fn target(record: &BenchRecord) -> String {
    let requests = &record.target.requests;
    let is_mixed = requests.len() > 1;
    let mut parts: Vec<String> =
        requests.iter().take(REQUESTS_MAX).map(|request| one(request, is_mixed)).collect();
    if requests.len() > REQUESTS_MAX {
        parts.push(format!("{} more", requests.len() - REQUESTS_MAX));
    }
    let tls = if record.target.tls { ", encrypted" } else { "" };
    format!("{} at {}{tls}", parts.join("; "), record.target.address)
}

fn one(request: &RequestRecord, is_mixed: bool) -> String {
    let weight = if is_mixed { format!("{} × ", request.weight) } else { String::new() };
    let body = match request.body_bytes {
        0 => String::new(),
        bytes => format!(" with {}", text::bytes(bytes)),
    };
    format!("{weight}{} {}{body}", request.method, request.url)
}

fn load(record: &BenchRecord) -> String {
    let load = &record.load;
    let mut parts = vec![match (load.loop_kind, load.rate) {
        (LoopKind::Open, Some(rate)) => {
            let arrivals = load.arrivals.as_deref().unwrap_or("scheduled");
            format!("open loop, {}/s asked for ({arrivals})", text::per_second(rate))
        }
        (LoopKind::Open, None) => "open loop".to_owned(),
        (LoopKind::Closed, _) => "closed loop".to_owned(),
    }];
    let connections = text::counted(load.connections, "connection", "connections");
    let threads = text::counted(load.threads, "thread", "threads");
    parts.push(format!("{connections} on {threads}"));
    if load.pipeline > 1 {
        parts.push(format!("pipelined by {}", text::count(load.pipeline)));
    }
    if !load.keep_alive {
        parts.push("a new connection for each request".to_owned());
    }
    if let Some(number) = load.requests_per_connection {
        let requests = text::counted(number, "request", "requests");
        parts.push(format!("at most {requests} a connection"));
    }
    if load.slow_followers > 0 {
        parts.push(text::counted(load.slow_followers, "slow follower", "slow followers"));
    }
    parts.join(", ")
}

fn window(record: &BenchRecord) -> String {
    let window = &record.window;
    let mut parts = vec![format!("{} measured", text::seconds(window.seconds))];
    if window.interrupted {
        parts.push("ended early by a signal".to_owned());
    }
    if window.warm_up_seconds > 0.0 {
        let sent = text::counted(record.warm_up.sent, "request", "requests");
        let steady = match record.warm_up.steady {
            Some(true) => ", until the rate was steady",
            Some(false) => " without a steady rate",
            None => "",
        };
        let length = text::seconds(window.warm_up_seconds);
        parts.push(format!("after {length} of warm-up{steady} ({sent}, not counted)"));
    }
    if window.drain_seconds >= 0.05 {
        parts.push(format!("then {} of drain", text::seconds(window.drain_seconds)));
    }
    parts.join(", ")
}
