//! docs/PROTOCOL.md and the server say the same.

use squall_server::problem::ErrorCode;

use crate::support::TestServer;

const DOCUMENT: &str = include_str!("../../../../docs/PROTOCOL.md");

/// Text of the document between a heading and the next of its rank.
fn section(heading: &str) -> &'static str {
    let (_, behind) = DOCUMENT.split_once(&format!("\n{heading}\n")).expect(heading);
    let rank = heading.split(' ').next().unwrap();
    behind.split(&format!("\n{rank} ")).next().unwrap()
}

#[test]
fn every_error_code_has_a_heading_and_every_heading_is_a_code() {
    let headings: Vec<&str> =
        section("## Errors").lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let codes: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(headings, codes);
}

#[test]
fn every_error_says_its_status() {
    for code in ErrorCode::ALL {
        let text = section("## Errors").split(&format!("### {}\n\n", code.as_str())).nth(1);
        let status = code.status().as_u16().to_string();
        let first = text.unwrap().split_whitespace().next().unwrap();
        assert_eq!(first.trim_end_matches('.'), status, "{}", code.as_str());
    }
}

#[test]
fn every_metric_is_in_the_document() {
    let text = TestServer::start().read("/metrics").text();
    let listed = section("## Operations");
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').unwrap();
        let name = if kind == "counter" { format!("{name}_total") } else { name.to_owned() };
        assert!(listed.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn every_header_that_pages_may_use_is_in_the_document() {
    let server = TestServer::start();
    let ask = squall_testkit::http::Request::new("OPTIONS", "/v1/stream/s");
    let found = server.call(&ask.header("Origin", "http://localhost"));
    for list in ["Access-Control-Allow-Headers", "Access-Control-Expose-Headers"] {
        for name in found.header(list).unwrap().split(", ") {
            assert!(DOCUMENT.contains(&format!("`{name}")), "{name}");
        }
    }
}
