//! Tables of requests and their bytes.

use super::*;
use crate::http::response::RequestKind;
use crate::stamp::Stamp;

const GET: RequestParts<'_> = RequestParts {
    method: "GET",
    target: "/",
    host: "h",
    version: HttpVersion::V11,
    headers: &[],
    body: b"",
    keep_alive: true,
    has_fields: false,
    has_body_fields: false,
};
const POST: RequestParts<'_> = RequestParts { method: "POST", body: b"hello", ..GET };

fn headers(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn check(parts: RequestParts<'_>, expected: &str) {
    let template = RequestTemplate::build(&parts).unwrap();
    assert_eq!(String::from_utf8_lossy(template.bytes()), expected);
    assert_eq!(template.len(), expected.len());
    assert!(template.is_static());
}

#[test]
fn only_needed_headers_are_added() {
    check(GET, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    check(RequestParts { method: "HEAD", ..GET }, "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
    check(POST, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
    check(
        RequestParts { method: "DELETE", ..POST },
        "DELETE / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
    );
    for method in ["POST", "PUT", "PATCH"] {
        let expected = format!("{method} / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
        check(RequestParts { method, ..GET }, &expected);
    }
}

#[test]
fn the_connection_header_says_what_the_version_does_not() {
    let check = |version, keep_alive, expected: &str| {
        check(RequestParts { version, keep_alive, ..GET }, expected);
    };
    check(HttpVersion::V11, true, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    check(HttpVersion::V11, false, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    check(HttpVersion::V10, true, "GET / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n");
    check(HttpVersion::V10, false, "GET / HTTP/1.0\r\nHost: h\r\n\r\n");
}

#[test]
fn given_headers_are_sent_as_they_are_and_not_twice() {
    let given = headers(&[("accept", " */*"), ("HOST", "other"), ("connection", "x")]);
    check(
        RequestParts { headers: &given, keep_alive: false, ..GET },
        "GET / HTTP/1.1\r\naccept:  */*\r\nHOST: other\r\nconnection: x\r\n\r\n",
    );
    let given = headers(&[("content-length", "05")]);
    check(
        RequestParts { headers: &given, ..POST },
        "POST / HTTP/1.1\r\nHost: h\r\ncontent-length: 05\r\n\r\nhello",
    );
    let given = headers(&[("Transfer-Encoding", "gzip"), ("transfer-encoding", "Chunked")]);
    check(
        RequestParts { headers: &given, body: b"2;x\r\nok\r\n0\r\nT: 1\r\n\r\n", ..POST },
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\ntransfer-encoding: Chunked\
         \r\n\r\n2;x\r\nok\r\n0\r\nT: 1\r\n\r\n",
    );
}

#[test]
fn a_given_length_that_is_not_that_of_the_body_is_an_error() {
    let check = |given: &[(&str, &str)], body: &[u8], expected: &str| {
        let parts = RequestParts { headers: &headers(given), body, ..POST };
        let error = RequestTemplate::build(&parts).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(&[("content-length", "4")], b"hello", "\"4\", but the body has 5 bytes");
    check(&[("Content-Length", "x")], b"", "\"x\", but the body has 0 bytes");
    check(&[("Content-Length", "5"), ("Content-Length", "6")], b"hello", "\"6\", but");
    check(&[("Transfer-Encoding", "chunked")], b"hello", "not one whole message of chunks");
    check(&[("Transfer-Encoding", "chunked")], b"", "not one whole message of chunks");
    check(&[("Transfer-Encoding", "chunked")], b"0\r\n\r\nx", "not one whole message");
    check(&[("Transfer-Encoding", "gzip")], b"0\r\n\r\n", "is \"gzip\"");
    check(&[("Content-Length", "5"), ("Transfer-Encoding", "chunked")], b"0\r\n\r\n", "both");
}

#[test]
fn malformed_parts_are_errors_that_say_which() {
    let check = |parts: RequestParts<'_>, expected: &str| {
        let error = RequestTemplate::build(&parts).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(RequestParts { method: "", ..GET }, "the method \"\"");
    check(RequestParts { method: "GE T", ..GET }, "the method \"GE T\"");
    for target in ["", "a", "http://h/", "*"] {
        check(RequestParts { target, ..GET }, "does not begin with a slash");
    }
    for target in ["/a b", "/a\r\n", "/\t", "/\x7F"] {
        check(RequestParts { target, ..GET }, "a space or a control character");
    }
    check(RequestParts { host: "h\r\nX: y", ..GET }, "the host");
    for name in ["", "a b", "a:", "a\r\n", "\u{fc}"] {
        check(RequestParts { headers: &headers(&[(name, "x")]), ..GET }, "the header name");
    }
    for value in ["a\rb", "a\nb", "a\0b"] {
        check(
            RequestParts { headers: &headers(&[("x-name", value)]), ..GET },
            "the value of the header x-name",
        );
    }
}

#[test]
fn the_method_decides_the_form_of_the_target_and_the_kind_of_the_reply() {
    let check = |method, target, expected| {
        let template = RequestTemplate::build(&RequestParts { method, target, ..GET }).unwrap();
        assert_eq!(template.kind(), expected);
    };
    check("OPTIONS", "*", RequestKind::Other);
    check("HEAD", "/", RequestKind::Head);
    check("head", "/", RequestKind::Other);
    check("CONNECT", "host:443", RequestKind::Connect);
    check("M-SEARCH", "/a?b=\u{fc}#c", RequestKind::Other);
}

fn write_body(body: &str, sequence: u64, random: u64) -> String {
    let parts = RequestParts { body: body.as_bytes(), has_body_fields: true, ..POST };
    let template = RequestTemplate::build(&parts).unwrap();
    let mut out = Vec::new();
    template.write(&mut out, &mut values(sequence, &mut || random));
    assert_eq!(out.len(), template.len());
    let text = String::from_utf8(out).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{text}");
    body.to_owned()
}

fn values(sequence: u64, random: &mut dyn FnMut() -> u64) -> FieldValues<'_> {
    FieldValues { sequence, time_ns: 123, publisher: 7, publisher_sequence: 8, random }
}

#[test]
fn fields_are_filled_in_their_width() {
    let check = |body, sequence, random, expected: &str| {
        assert_eq!(write_body(body, sequence, random), expected, "{body}");
    };
    check("{{seq}}", 42, 0, "000000000042");
    check("{{seq}}", 1_000_000_000_001, 0, "000000000001");
    check("<{{seq:0990}}>", 15, 0, "<1005>");
    check("<{{seq:990}}>", 15, 0, "<005>");
    check("{{seq:7}}{{seq:8}}", 1, 0, "89");
    check("{{random:1..006}}", 0, 0, "001");
    check("{{random:1..6}}", 0, u64::MAX, "6");
    check("{{random:0..99}}", 0, u64::MAX / 2, "49");
    check("{{now_ns}}", 0, 0, "00000000000000000123");
    check(
        "a{{stamp:67}}b",
        0,
        0,
        "asquall-stamp 0000000000000007 000000000008 00000000000000000123 ...b",
    );
}

#[test]
fn other_braces_are_text() {
    for body in
        ["{{}}", "{{name}}", "{{ seq }}", "{seq}", "{{seq}", "{{", "}}", "{{a:b}}", "{{seqs}}"]
    {
        assert_eq!(write_body(body, 1, 0), body);
    }
    assert_eq!(write_body("{{{seq:0}}}", 1, 0), "{1}");
    assert_eq!(write_body("{{ {{seq:0}} }}", 1, 0), "{{ 1 }}");
    let parts = RequestParts { body: b"{{seq}}", ..POST };
    check(parts, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\n{{seq}}");
}

#[test]
fn a_field_with_a_malformed_argument_is_an_error() {
    for field in [
        "{{seq:}}",
        "{{seq:x}}",
        "{{seq:-1}}",
        "{{seq:000000000000000000001}}",
        "{{seq:99999999999999999999}}",
        "{{random:1}}",
        "{{random:2..1}}",
        "{{random:..1}}",
        "{{stamp:62}}",
        "{{stamp:99999999999}}",
    ] {
        let parts = RequestParts { body: field.as_bytes(), has_body_fields: true, ..POST };
        let error = RequestTemplate::build(&parts).unwrap_err();
        assert!(error.to_string().contains(field), "{error}");
    }
}

#[test]
fn fields_stand_in_the_target_and_in_headers_too() {
    let given = headers(&[("X-Id", "a{{seq:10}}"), ("X-Stamp", "{{stamp:63}}")]);
    let parts = RequestParts { target: "/{{seq:0}}/x", headers: &given, has_fields: true, ..GET };
    let template = RequestTemplate::build(&parts).unwrap();
    assert!(!template.is_static());
    let mut out = b"before".to_vec();
    template.write(&mut out, &mut values(3, &mut || 0));
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("beforeGET /3/x HTTP/1.1\r\nHost: h\r\nX-Id: a13\r\n"), "{text}");
    let stamp = Stamp { publisher: 7, sequence: 8, time_ns: 123 };
    assert_eq!(Stamp::find(text.as_bytes()), Some(stamp));
}

#[test]
fn fields_do_not_stand_where_they_would_break_the_request() {
    let build = |target, name, value| {
        let given = headers(&[(name, value)]);
        let parts = RequestParts { target, headers: &given, has_fields: true, ..GET };
        RequestTemplate::build(&parts).unwrap_err().to_string()
    };
    assert!(build("/{{stamp:70}}", "X", "y").contains("{{stamp:70}}"));
    assert!(build("/", "Content-Length", "{{seq}}").contains("{{seq}}"));
}
