//! Closing.

use super::run::Case;
use crate::conformance::stage::{Stage, claim, close, payloads, post};
use crate::offset::{Offset, ReadFrom};
use crate::request::AppendError;

pub(super) const CASES: &[Case] = &[
    ("a closed stream takes nothing and can be read", closed),
    ("a close can be repeated", repeated),
    ("an append and a close are one step", append_and_close),
    ("a close without a stream is refused", no_stream),
    ("a producer's close uses up a sequence number", close_by_producer),
    ("only the very request that closed is a duplicate", exact_duplicate),
];

fn closed(stage: Stage) {
    stage.append(post("s", &["a"])).expect("appended");
    let ack = stage.append(close("s")).expect("closed");
    let tail = Offset::at(1);
    assert_eq!((ack.tail, ack.closed, ack.duplicate), (tail, true, false));
    assert_eq!(stage.append(post("s", &["b"])), Err(AppendError::Closed { tail }));
    assert!(stage.describe("s").expect("described").closed);
    let page = stage.read("s", ReadFrom::Start).expect("read");
    assert_eq!(payloads(&page), ["a"]);
    assert!(page.ends_stream());
    assert!(stage.read("s", ReadFrom::Now).expect("read").ends_stream());
}

fn repeated(stage: Stage) {
    stage.append(post("s", &["a"])).expect("appended");
    stage.append(close("s")).expect("closed");
    let told = stage.record.len();
    let again = stage.append(close("s")).expect("closed already");
    assert_eq!((again.tail, again.closed), (Offset::at(1), true));
    let mut with_event = post("s", &["b"]);
    with_event.close = true;
    let tail = Offset::at(1);
    assert_eq!(stage.append(with_event), Err(AppendError::Closed { tail }));
    assert_eq!(stage.record.len(), told);
}

fn append_and_close(stage: Stage) {
    let mut last = post("s", &["the", "end"]);
    last.close = true;
    let ack = stage.append(last).expect("appended");
    assert_eq!((ack.tail, ack.closed), (Offset::at(6), true));
    let page = stage.read("s", ReadFrom::Start).expect("read");
    assert_eq!(payloads(&page), ["the", "end"]);
    assert!(page.ends_stream());
}

fn no_stream(stage: Stage) {
    assert_eq!(stage.append(close("s")), Err(AppendError::NotFound));
}

fn close_by_producer(stage: Stage) {
    let mut append = post("s", &["a"]);
    append.producer = claim("p", 0, 0);
    stage.append(append).expect("appended");
    let mut gap = close("s");
    gap.producer = claim("p", 0, 2);
    stage.append(gap).expect_err("sequence number 1 is missing");
    assert!(!stage.describe("s").expect("described").closed);
    let mut last = close("s");
    last.producer = claim("p", 0, 1);
    let ack = stage.append(last.clone()).expect("closed");
    let position = last.producer.as_ref().map(|claim| claim.position);
    assert_eq!((ack.closed, ack.duplicate, ack.producer), (true, false, position));
    let again = stage.append(last).expect("a retry");
    assert_eq!((again.closed, again.duplicate, again.producer), (true, true, position));
}

fn exact_duplicate(stage: Stage) {
    let mut append = post("s", &["a"]);
    append.producer = claim("p", 0, 0);
    stage.append(append.clone()).expect("appended");
    let mut last = post("s", &["b"]);
    (last.producer, last.close) = (claim("p", 0, 1), true);
    stage.append(last.clone()).expect("closed");

    let mut other_body = post("s", &["something else"]);
    (other_body.producer, other_body.close) = (last.producer.clone(), true);
    let again = stage.append(other_body).expect("a retry, whatever its body");
    assert_eq!((again.tail, again.closed, again.duplicate), (Offset::at(2), true, true));

    let tail = Offset::at(2);
    let refused = || Err(AppendError::Closed { tail });
    assert_eq!(stage.append(append), refused(), "stored once, but not the closing one");
    last.close = false;
    assert_eq!(stage.append(last.clone()), refused(), "the same position without a close");
    last.close = true;
    for other in [claim("p", 0, 2), claim("p", 1, 0), claim("q", 0, 1)] {
        last.producer = other;
        assert_eq!(stage.append(last.clone()), refused());
    }
    assert_eq!(stage.payloads("s"), ["a", "b"]);
}
