//! Connections, and what crossed them.

use squall_stats::record::BenchRecord;

use super::screen::{KINDS_MAX, Screen, Tone};
use crate::text;

pub(super) fn write(screen: &mut Screen, record: &BenchRecord) {
    let connections = &record.connections;
    let text = format!(
        "{} opened, reused for {}; closed {} by the server, {} by squall",
        text::count(connections.opened),
        text::counted(connections.reused, "request", "requests"),
        text::count(connections.closed_by_server),
        text::count(connections.closed_by_client),
    );
    screen.field("connections", &text, Tone::Normal);
    if !connections.failed.is_empty() {
        let failed = text::kinds(&connections.failed, KINDS_MAX).join(", ");
        screen.field("not opened", &failed, Tone::Failure);
    }
    screen.field("bytes", &bytes(record), Tone::Normal);
}

fn bytes(record: &BenchRecord) -> String {
    let bytes = &record.bytes;
    let mut text =
        format!("{} sent, {} received", text::bytes(bytes.sent), text::bytes(bytes.received));
    if let Some(body) = &record.body {
        let bodies = if body.bytes_min == body.bytes_max {
            format!("; bodies of {}", text::bytes(body.bytes_min))
        } else {
            let (min, max) = (text::bytes(body.bytes_min), text::bytes(body.bytes_max));
            format!("; bodies of {min} to {max}")
        };
        text.push_str(&bodies);
    }
    text
}
