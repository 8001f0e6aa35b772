//! `squall bench` against `squall serve`: every append reaches every follower.

use squall_testkit::http::{Request, call};
use squall_testkit::process::ServerProcess;
use tempfile::tempdir;

use crate::bench::{number, record};
use crate::command::start;

const APPENDS: u64 = 300;
const FOLLOWERS: u64 = 5;

/// Appends stamps at `append` and follows them at `follow`.
fn check(server: &ServerProcess, append: &str, follow: &str) {
    let url = |target: &str| format!("http://{}{target}", server.address());
    let (appends, followers) = (APPENDS.to_string(), FOLLOWERS.to_string());
    let (append, follow) = (url(append), url(follow));
    let load = ["-n", &appends, "-c", "4", "--body-stamp", "100", "-H", "Content-Type: text/plain"];
    let followed = ["--followers", &followers, "--follow", &follow, &append];
    let record = record(&[load.as_slice(), &followed].concat());
    let expect = |path: &str, expected: u64| {
        assert_eq!(number(&record, path), expected, "{follow} {path}: {:#}", record["followers"]);
    };
    expect("/ledger/ok", APPENDS);
    expect("/followers/asked", FOLLOWERS);
    expect("/followers/established", FOLLOWERS);
    expect("/followers/reconnects", 0);
    expect("/followers/delivery/appended", APPENDS);
    expect("/followers/delivery/delivered", APPENDS * FOLLOWERS);
    expect("/followers/delivery/time/count", APPENDS * FOLLOWERS);
    for fault in ["lost", "repeated", "reordered", "foreign"] {
        expect(&format!("/followers/delivery/{fault}"), 0);
    }
}

#[test]
fn the_simple_face_delivers_every_append_to_every_follower() {
    let directory = tempdir().unwrap();
    let server = start(directory.path(), &[]);
    check(&server, "/", "/stream");
}

#[test]
fn a_named_stream_delivers_every_append_to_every_follower() {
    let directory = tempdir().unwrap();
    let server = start(directory.path(), &[]);
    for (stream, query) in
        [("/v1/stream/x", "live=events"), ("/v1/stream/y", "live=sse&offset=now")]
    {
        let put = Request::new("PUT", stream).header("Content-Type", "text/plain");
        assert_eq!(call(server.address(), &put).unwrap().status, 201);
        check(&server, stream, &format!("{stream}?{query}"));
    }
}
