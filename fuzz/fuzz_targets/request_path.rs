//! Any request: no panic, names and events within their rules.
//!
//! `cargo fuzz run request_path --sanitizer=none`

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use squall_server::fuzzing::{Read, read};

/// Small, so that it is met.
const ELEMENTS_MAX: usize = 8;

/// Most headers of a request, as the server takes by default.
const HEADERS_MAX: usize = 100;

fuzz_target!(|wire: &[u8]| {
    let Some(request) = parse(wire) else {
        return;
    };
    let Read { name, events } = read(&request, ELEMENTS_MAX);
    if let Some(name) = name {
        check_name(name.as_str());
    }
    if let Some(events) = events {
        check_events(&request, &events);
    }
});

/// The request as the server would get it from its HTTP library, with what is behind the
/// head as its body.
fn parse(wire: &[u8]) -> Option<http::Request<Bytes>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(length) = head.parse(wire).ok()? else {
        return None;
    };
    let mut builder = http::Request::builder().method(head.method?).uri(head.path?);
    for header in head.headers.iter() {
        builder = builder.header(header.name, header.value);
    }
    builder.body(Bytes::copy_from_slice(&wire[length..])).ok()
}

fn check_name(name: &str) {
    assert!((1..=512).contains(&name.len()));
    assert!(!name.chars().any(char::is_control));
    assert!(name.split('/').all(|part| !matches!(part, "" | "." | "..")));
}

fn check_events(request: &http::Request<Bytes>, events: &[Bytes]) {
    let body = request.body();
    let within = body.as_ptr_range();
    for event in events.iter().filter(|event| !event.is_empty()) {
        let range = event.as_ptr_range();
        assert!(within.start <= range.start && range.end <= within.end);
    }
    if events.len() > 1 {
        assert!(events.len() <= ELEMENTS_MAX);
        // Put together again they are the array that came. A value may be too deep, or a
        // number too large, for this reader.
        let Ok(whole) = serde_json::from_slice::<serde_json::Value>(body) else {
            return;
        };
        let parts: Vec<serde_json::Value> =
            events.iter().map(|event| serde_json::from_slice(event).unwrap_or_default()).collect();
        assert_eq!(whole, serde_json::Value::Array(parts));
    }
}
