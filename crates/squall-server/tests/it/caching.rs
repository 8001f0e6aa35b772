//! Caching of pages: what may be kept, and how it is found to be still true.

use squall_testkit::http::{Request, Response};

use crate::support::{TestServer, at, path};

fn tag(found: &Response) -> String {
    found.header("ETag").unwrap().to_owned()
}

fn known(server: &TestServer, target: &str, tags: &str) -> Response {
    server.call(&Request::new("GET", target).header("If-None-Match", tags))
}

#[test]
fn a_page_that_is_known_is_not_sent_again() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    server.append("s", "text/plain", "abc");
    let page = server.read(&path("s"));
    let kept = page.header("Cache-Control").unwrap();
    assert_eq!(kept, "public, max-age=60, stale-while-revalidate=300");
    for tags in
        [tag(&page), format!("W/{}", tag(&page)), format!("\"x\", {}", tag(&page)), "*".into()]
    {
        let same = known(&server, &path("s"), &tags);
        assert_eq!((same.status, same.body.len()), (304, 0), "{tags}");
        assert_eq!(same.header("ETag"), Some(&*tag(&page)));
        assert_eq!(same.header("Cache-Control"), Some(kept));
    }
    assert_eq!(known(&server, &path("s"), "\"x\"").status, 200);
}

#[test]
fn every_change_of_an_answer_changes_its_tag() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    let mut tags = vec![tag(&server.read(&path("s")))];
    server.append("s", "text/plain", "abc");
    tags.push(tag(&server.read(&path("s"))));
    tags.push(tag(&server.read(&format!("{}?offset={}", path("s"), at(1)))));
    server.append("s", "text/plain", "def");
    tags.push(tag(&server.read(&path("s"))));
    server.close("s");
    tags.push(tag(&server.read(&path("s"))));
    server.delete("s");
    server.create("s", "text/plain");
    server.append("s", "text/plain", "ghi");
    tags.push(tag(&server.read(&path("s"))));
    let mut different = tags.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), tags.len(), "{tags:?}");
}

/// A client that was told it is up to date must not be told so for ever: the page ends
/// where it ended before, but is no longer the last.
#[test]
fn a_full_page_is_another_once_something_lies_behind_it() {
    let server = TestServer::with(|config| config.page_bytes_max = 3);
    server.create("s", "text/plain");
    server.append("s", "text/plain", "abc");
    let last = server.read(&path("s"));
    assert_eq!(last.header("Stream-Up-To-Date"), Some("true"));
    server.append("s", "text/plain", "def");
    let found = known(&server, &path("s"), &tag(&last));
    assert_eq!((found.status, found.text().as_str()), (200, "abc"));
    assert_eq!(found.header("Stream-Up-To-Date"), None);
}

/// The next event may come at any moment, so nobody may answer for the server.
#[test]
fn an_empty_page_is_asked_for_again() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    let empty = server.read(&path("s"));
    assert_eq!(empty.header("Cache-Control"), Some("no-cache"));
    assert_eq!(known(&server, &path("s"), &tag(&empty)).status, 304);
    server.append("s", "text/plain", "a");
    assert_eq!(known(&server, &path("s"), &tag(&empty)).text(), "a");
}

#[test]
fn what_is_live_or_wrong_is_not_kept() {
    let server =
        TestServer::with(|config| config.long_poll_max = std::time::Duration::from_millis(1));
    server.create("s", "text/plain");
    let uncached = ["?offset=nonsense", "?offset=now&live=long-poll", "?offset=now"];
    for query in uncached {
        let found = server.read(&format!("{}{query}", path("s")));
        assert_eq!(found.header("Cache-Control"), Some("no-store"), "{query}");
        assert_eq!(found.header("ETag"), None, "{query}");
    }
}
