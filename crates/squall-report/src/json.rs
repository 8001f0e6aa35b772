//! A record as JSON, described by `docs/bench.schema.json`.

use squall_stats::record::BenchRecord;

/// The record as indented JSON that ends with a line feed.
///
/// A number that is not finite has no JSON and becomes `null`.
#[must_use]
pub fn bench(record: &BenchRecord) -> String {
    let mut json = serde_json::to_string_pretty(record).expect("every key is text or a number");
    json.push('\n');
    json
}
