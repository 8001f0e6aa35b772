//! Records as JSON.

use serde_json::{Value, json};
use squall_stats::ledger::Ledger;
use squall_stats::record::{BenchRecord, LatencySummary};

use crate::sample;

fn to_json(record: &BenchRecord) -> Value {
    serde_json::to_value(record).expect("a record is JSON")
}

#[test]
fn a_record_comes_back_from_json_unchanged() {
    let check = |record: BenchRecord| {
        let text = serde_json::to_string_pretty(&record).unwrap();
        assert_eq!(serde_json::from_str::<BenchRecord>(&text).unwrap(), record);
    };
    check(sample::record());
    check(BenchRecord {
        body: None,
        followers: None,
        server: None,
        ledger: Ledger::default(),
        warnings: Vec::new(),
        ..sample::record()
    });
}

#[test]
fn a_percentile_without_enough_samples_is_null() {
    let record = to_json(&sample::record());
    let response = &record["latency"]["response"];
    assert_eq!(response["count"], 980);
    assert!(response["p90"].is_u64());
    assert_eq!(response["p99"], Value::Null);
    assert_eq!(response["max"], 98_000_000);
}

#[test]
fn no_number_is_left_out_of_an_empty_summary() {
    let expected = json!({
        "count": 0, "min": null, "mean": null, "p50": null, "p90": null, "p99": null,
        "p999": null, "max": null,
    });
    assert_eq!(serde_json::to_value(LatencySummary::default()).unwrap(), expected);
}

#[test]
fn the_ledger_has_its_failures_by_kind() {
    let expected = json!({
        "scheduled": 1024, "missed": 24, "sent": 1000, "ok": 980, "failed": 15, "unanswered": 5,
        "failures": {
            "connect": { "ECONNREFUSED": 5 }, "tls": 0, "reset": 0, "closed": 0, "truncated": 0,
            "timeout": 0, "status": 10, "body": 0, "framing": 0,
        },
    });
    assert_eq!(to_json(&sample::record())["ledger"], expected);
}
