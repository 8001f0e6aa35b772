//! What `docs/MEASURING.md` has to explain.

use squall_report::json;

use crate::records;

const MEASURING: &str = include_str!("../../../../docs/MEASURING.md");

#[test]
fn every_kind_of_failure_is_explained() {
    let json: serde_json::Value = serde_json::from_str(&json::bench(&records::full())).unwrap();
    for kind in json["ledger"]["failures"].as_object().unwrap().keys() {
        let row = format!("| `{kind}` |");
        assert!(MEASURING.contains(&row), "no row `{row}`");
    }
}

#[test]
fn every_part_of_a_record_is_explained() {
    let json: serde_json::Value = serde_json::from_str(&json::bench(&records::full())).unwrap();
    for part in json.as_object().unwrap().keys() {
        assert!(MEASURING.contains(&format!("`{part}`")), "`{part}` is not mentioned");
    }
}
