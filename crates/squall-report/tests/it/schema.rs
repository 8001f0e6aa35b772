//! JSON and its schema, each held against the other.

use serde_json::{Map, Value};
use squall_report::json;
use squall_stats::record::{BENCH_SCHEMA, BenchRecord};

use crate::records;

const SCHEMA: &str = include_str!("../../../../docs/bench.schema.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn printed(record: &BenchRecord) -> Value {
    serde_json::from_str(&json::bench(record)).unwrap()
}

#[test]
fn every_printed_record_is_valid() {
    let schema = schema();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let records = [
        records::healthy(),
        records::missed_arrivals(),
        records::refused(),
        records::server_errors(),
        records::with_followers(),
        records::full(),
    ];
    for record in &records {
        let instance = printed(record);
        let errors: Vec<String> = validator
            .iter_errors(&instance)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn the_schema_is_a_schema() {
    let schema = schema();
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    let tag = schema.pointer("/properties/schema/const").and_then(Value::as_str);
    assert_eq!(tag, Some(BENCH_SCHEMA));
}

#[test]
fn a_record_that_is_none_is_refused() {
    let schema = schema();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let check = |change: &dyn Fn(&mut Value)| {
        let mut instance = printed(&records::full());
        change(&mut instance);
        assert!(!validator.is_valid(&instance), "{instance}");
    };
    check(&|record| record["ledger"]["ok"] = Value::from(-1));
    check(&|record| record["ledger"]["extra"] = Value::from(1));
    check(&|record| record["window"]["seconds"] = Value::Null);
    check(&|record| record["status_codes"]["2xx"] = Value::from(1));
    check(&|record| record["summary"]["limit"] = Value::from("network"));
    check(&|record| {
        record.as_object_mut().unwrap().remove("warnings");
    });
}

/// Every key that is printed is described, every key that is described is printed, and none is
/// optional.
#[test]
fn schema_and_record_have_the_same_keys() {
    let schema = schema();
    compare(&schema, &schema, &printed(&records::full()), "record");
}

#[test]
fn json_is_indented_and_ends_with_a_line_feed() {
    let text = json::bench(&records::healthy());
    assert!(text.starts_with("{\n  \"schema\": \"squall.bench/1\",\n"), "{text}");
    assert!(text.ends_with("}\n"), "{text}");
    let read: BenchRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(read, records::healthy());
}

fn compare(schema: &Value, root: &Value, instance: &Value, path: &str) {
    let schema = resolved(schema, root);
    match instance {
        Value::Object(object) => compare_object(&schema, root, object, path),
        Value::Array(items) => {
            let of_item = schema.get("items").unwrap_or_else(|| panic!("{path} has no items"));
            assert!(!items.is_empty(), "{path} is empty, so its items are not compared");
            for item in items {
                compare(of_item, root, item, &format!("{path}[]"));
            }
        }
        Value::Null if schema.get("properties").is_some() => panic!("{path} is not compared"),
        _ => {}
    }
}

fn compare_object(schema: &Value, root: &Value, object: &Map<String, Value>, path: &str) {
    let Some(described) = schema.get("properties").and_then(Value::as_object) else {
        // A map: its keys are data, and the schema has to say what they look like.
        assert!(schema.get("propertyNames").is_some(), "{path} describes no keys");
        assert!(schema.get("additionalProperties").is_some_and(Value::is_object), "{path}");
        assert!(!object.is_empty(), "{path} is empty, so it is not compared");
        return;
    };
    assert_eq!(keys(object), keys(described), "keys of {path}");
    assert_eq!(schema.get("additionalProperties"), Some(&Value::Bool(false)), "{path}");
    let mut required: Vec<&str> =
        schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    required.sort_unstable();
    assert_eq!(required, keys(object), "required keys of {path}");
    for (key, value) in object {
        let path = format!("{path}.{key}");
        let text = described[key].get("description").and_then(Value::as_str).unwrap_or_default();
        assert!(text.len() > 5, "{path} is not described");
        compare(&described[key], root, value, &path);
    }
}

/// Follows a reference, and the part of an `anyOf` that is not null.
fn resolved(schema: &Value, root: &Value) -> Value {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.trim_start_matches('#'));
        return resolved(target.unwrap_or_else(|| panic!("{reference} is missing")), root);
    }
    if let Some(Value::Array(parts)) = schema.get("anyOf") {
        let is_null = |part: &&Value| part.get("type") == Some(&Value::from("null"));
        return resolved(parts.iter().find(|part| !is_null(part)).unwrap(), root);
    }
    schema.clone()
}

fn keys(object: &Map<String, Value>) -> Vec<&str> {
    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}
