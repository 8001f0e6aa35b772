//! `GET /v1/streams`: the streams there are, a page at a time.

use serde_json::Value;

use crate::support::{TestServer, assert_problem, at};

fn list(server: &TestServer, query: &str) -> Value {
    let found = server.read(&format!("/v1/streams{query}"));
    assert_eq!(found.status, 200, "{}", found.text());
    assert_eq!(found.header("Content-Type"), Some("application/json"));
    assert_eq!(found.header("Cache-Control"), Some("no-store"));
    serde_json::from_slice(&found.body).unwrap()
}

fn names(listed: &Value) -> Vec<&str> {
    let streams = listed["streams"].as_array().unwrap();
    streams.iter().map(|stream| stream["name"].as_str().unwrap()).collect()
}

fn stage(names: &[&str]) -> TestServer {
    let server = TestServer::start();
    names.iter().for_each(|name| server.create(name, "text/plain"));
    server
}

#[test]
fn no_streams_are_an_empty_list() {
    let listed = list(&stage(&[]), "");
    assert_eq!(listed, serde_json::json!({"streams": [], "next": null}));
}

#[test]
fn a_stream_is_shown_with_what_is_in_it() {
    let server = TestServer::start();
    server.create("a/b", "application/json");
    server.append("a/b", "application/json", "[1,22,333]");
    server.close("a/b");
    let mut listed = list(&server, "");
    let created = listed["streams"][0]["created_at"].take();
    let expected = serde_json::json!({
        "name": "a/b", "content_type": "application/json", "tail": at(6), "bytes": 6,
        "events": 3, "closed": true, "created_at": null,
    });
    assert_eq!(listed["streams"], serde_json::json!([expected]));
    let created = created.as_str().unwrap();
    assert!(created.starts_with("20") && created.ends_with('Z'), "{created}");
}

#[test]
fn what_was_trimmed_is_not_counted() {
    let server = stage(&["s"]);
    server.append("s", "text/plain", "aaa");
    server.append("s", "text/plain", "b");
    server.trim("s", 3);
    let listed = list(&server, "");
    let stream = &listed["streams"][0];
    assert_eq!(
        (&stream["bytes"], &stream["events"], &stream["tail"]),
        (&1.into(), &1.into(), &at(4).into())
    );
}

#[test]
fn pages_go_on_behind_the_last_name() {
    let server = stage(&["b", "a", "c/d", "c", "é"]);
    let mut found = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let listed = list(&server, &query);
        found.extend(names(&listed).into_iter().map(str::to_owned));
        match listed["next"].as_str() {
            Some(next) => query = format!("?limit=2&after={next}"),
            None => break,
        }
    }
    assert_eq!(found, ["a", "b", "c", "c/d", "é"]);
    // Exactly full is the end as well.
    assert_eq!(list(&server, "?limit=5")["next"], Value::Null);
    assert_eq!(names(&list(&server, "?after=c")), ["c/d", "é"]);
    assert_eq!(names(&list(&server, "?after=bb")), ["c", "c/d", "é"]);
    assert_eq!(names(&list(&server, "?after=zzz")), ["é"]);
}

#[test]
fn a_prefix_is_a_prefix_of_the_name() {
    let server = stage(&["a", "ab", "ab/c", "b", "x%20y"]);
    assert_eq!(names(&list(&server, "?prefix=ab")), ["ab", "ab/c"]);
    assert_eq!(names(&list(&server, "?prefix=ab&after=ab")), ["ab/c"]);
    assert_eq!(names(&list(&server, "?prefix=b&after=a")), ["b"]);
    assert_eq!(names(&list(&server, "?prefix=x%20")), ["x y"]);
    assert_eq!(names(&list(&server, "?prefix=x+")), ["x y"]);
    assert_eq!(names(&list(&server, "?prefix=ab%2F")), ["ab/c"]);
    assert_eq!(names(&list(&server, "?prefix=")).len(), 5);
    assert_eq!(list(&server, "?prefix=ab&limit=1")["next"], "ab");
}

#[test]
fn a_limit_lies_between_one_and_a_thousand() {
    let server = stage(&["a"]);
    for limit in ["0", "1001", "-1", "ten", "", "1.5", "99999999999999999999", "1&limit=2"] {
        assert_problem(&server.read(&format!("/v1/streams?limit={limit}")), 400, "bad_query");
    }
    for limit in ["1", "1000"] {
        assert_eq!(names(&list(&server, &format!("?limit={limit}"))), ["a"]);
    }
}

#[test]
fn a_hundred_are_shown_unless_more_are_asked_for() {
    let many: Vec<String> = (0..101).map(|index| format!("s{index:03}")).collect();
    let server = stage(&many.iter().map(String::as_str).collect::<Vec<_>>());
    let listed = list(&server, "");
    assert_eq!((names(&listed).len(), &listed["next"]), (100, &"s099".into()));
    assert_eq!(names(&list(&server, "?limit=101")).len(), 101);
}

#[test]
fn what_is_gone_is_not_listed() {
    let server = stage(&["a", "b"]);
    server.delete("a");
    let expired = crate::support::put("c").header("Stream-TTL", "0");
    assert_eq!(server.call(&expired).status, 201);
    assert_eq!(names(&list(&server, "")), ["b"]);
}
