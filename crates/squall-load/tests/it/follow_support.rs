//! Loads of followers alone, and servers with something to follow.

use std::time::Duration;

use squall_load::spec::{FollowSpec, Length, LoadSpec};
use squall_stats::record::FollowersRecord;
use squall_testkit::scripted::{After, Script, ScriptedServer, Step, sse_head_plain};

use crate::support::{load, ms, run};

/// `count` followers of `url` and no requests, for `length` milliseconds.
pub(crate) fn following(url: &str, count: usize, length: u64) -> LoadSpec {
    let follow =
        FollowSpec { url: url.to_owned(), followers: count, slow_followers: 0, match_text: None };
    let length = Length::Time(ms(length));
    LoadSpec { follow: Some(follow), connections: 0, length, ..load(url, 1) }
}

/// One slow follower of `url` and no other, for `length` milliseconds.
pub(crate) fn following_slowly(url: &str, length: u64) -> LoadSpec {
    let mut spec = following(url, 0, length);
    spec.follow.as_mut().unwrap().slow_followers = 1;
    spec
}

/// What the followers of `spec` saw.
pub(crate) fn seen(spec: &LoadSpec) -> FollowersRecord {
    run(spec).followers.unwrap()
}

/// Runs `check` on each of `cases`, all at a time: what a window takes is waiting.
pub(crate) fn each<C: Send>(cases: impl IntoIterator<Item = C>, check: impl Fn(C) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| check(case));
        }
    });
}

/// The head of an event stream that ends with its connection, and `text` behind it.
pub(crate) fn head_and(text: impl AsRef<[u8]>) -> Vec<u8> {
    [&sse_head_plain()[..], text.as_ref()].concat()
}

/// Answers one request with `bytes`.
pub(crate) fn answer(bytes: impl Into<Vec<u8>>) -> [Step; 2] {
    [Step::Request, Step::Send(bytes.into())]
}

/// Answers one request with a head and `text`, cut into portions, and holds the connection.
pub(crate) fn portions(text: &[u8], portion: usize) -> Script {
    let (bytes, pause) = (head_and(text), Duration::ZERO);
    let steps = [Step::Request, Step::SendSplit { bytes, portion, pause }];
    Script::new().each_connection(steps).then(After::Stall)
}

/// A server that sends `text` to every follower at once, and holds the connection.
pub(crate) fn sending(text: &[u8]) -> ScriptedServer {
    ScriptedServer::start(portions(text, usize::MAX))
}

/// A stamped event of another program than ours.
pub(crate) fn stamped(sequence: u64) -> Vec<u8> {
    format!("id: {sequence}\ndata: squall-stamp server-1 {sequence} 5000 ...\n\n").into_bytes()
}
