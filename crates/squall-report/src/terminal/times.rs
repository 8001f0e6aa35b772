//! Tables of times.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use squall_stats::histogram::Quantile;
use squall_stats::record::{BenchRecord, LatencySummary, LoopKind};

use super::screen::{Screen, Tone};
use crate::text;

/// Columns of a table, the first of which names what was timed.
const HEADER: [&str; 7] = ["p50", "p90", "p99", "p99.9", "max", "mean", "count"];

/// What a closed loop cannot show, whoever reads it.
const CLOSED_LOOP: &str = "The loop was closed, so response and service time are equal, and \
    requests that a slow server kept from leaving are in no number (coordinated omission). An \
    open loop (--rate) shows them.";

pub(super) fn write(screen: &mut Screen, record: &BenchRecord) {
    let latency = &record.latency;
    let is_open = record.load.loop_kind == LoopKind::Open;
    let mut rows = Vec::new();
    rows.extend(if_any("response", &latency.response));
    if is_open {
        rows.extend(if_any("service", &latency.service));
    }
    rows.extend(if_any("failed", &latency.failed));
    rows.extend(if_any("connect", &latency.connect));
    write_table(screen, &rows);
    if !is_open && latency.response.count > 0 {
        screen.paragraph(CLOSED_LOOP, Tone::Normal);
    }
}

/// A row, unless it would be empty.
pub(super) fn if_any<'r>(
    name: &'static str,
    summary: &'r LatencySummary,
) -> Option<(&'static str, &'r LatencySummary)> {
    (summary.count > 0).then_some((name, summary))
}

/// Writes one row for each name under a header; nothing without a row.
pub(super) fn write_table(screen: &mut Screen, rows: &[(&str, &LatencySummary)]) {
    if rows.is_empty() {
        return;
    }
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(screen.columns());
    table.set_header(std::iter::once("time").chain(HEADER));
    for (name, summary) in rows {
        table.add_row(std::iter::once((*name).to_owned()).chain(cells(summary)));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        let is_name = index == 0;
        column.set_padding(if is_name { (0, 1) } else { (1, 0) });
        column.set_cell_alignment(if is_name { CellAlignment::Left } else { CellAlignment::Right });
    }
    for line in table.trim_fmt().lines() {
        screen.line(line, Tone::Normal);
    }
}

fn cells(summary: &LatencySummary) -> [String; 7] {
    [
        percentile(summary.p50, Quantile::P50),
        percentile(summary.p90, Quantile::P90),
        percentile(summary.p99, Quantile::P99),
        percentile(summary.p999, Quantile::P999),
        summary.max.map_or_else(none, text::time),
        summary.mean.map_or_else(none, text::time_ns),
        text::count(summary.count),
    ]
}

fn percentile(nanoseconds: Option<u64>, quantile: Quantile) -> String {
    nanoseconds.map_or_else(
        || format!("n/a (needs {})", text::count(quantile.samples_needed())),
        text::time,
    )
}

fn none() -> String {
    "n/a".to_owned()
}
