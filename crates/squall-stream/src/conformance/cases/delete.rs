//! Deletions.

use super::run::Case;
use crate::conformance::stage::{Stage, claim, content_type, json, post, text};
use crate::offset::{Offset, ReadFrom};
use crate::request::{Append, AppendError, List, ReadError, StreamError};

pub(super) const CASES: &[Case] = &[
    ("a deleted stream is gone everywhere", gone),
    ("a stream made anew shows nothing of the old one", made_anew),
    ("a stream made anew inherits no rule", inherits_nothing),
    ("a closed stream may be deleted", closed),
];

fn gone(stage: Stage) {
    let ack = stage.append(post("s", &["a"])).expect("appended");
    stage.delete("s").expect("deleted");
    assert_eq!(stage.delete("s"), Err(StreamError::NotFound));
    assert_eq!(stage.describe("s"), Err(StreamError::NotFound));
    assert_eq!(stage.trim("s", Offset::at(1)), Err(StreamError::NotFound));
    assert_eq!(stage.read("s", ReadFrom::Now), Err(ReadError::NotFound));
    let by_id = stage.read_id(ack.stream, ReadFrom::Start);
    assert_eq!(by_id, Err(ReadError::NotFound));
    let append = Append { create: false, ..post("s", &["b"]) };
    assert_eq!(stage.append(append), Err(AppendError::NotFound));
    assert_eq!(stage.newest("s"), None);
    let list = List { limit: 10, ..List::default() };
    assert_eq!(stage.list(list).streams, []);
}

fn made_anew(stage: Stage) {
    let many: Vec<String> = (0..200).map(|event| format!("old {event}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    stage.append(post("s", &many)).expect("appended");
    stage.delete("s").expect("deleted");
    let made = stage.create(text("s")).expect("created");
    assert!(made.created);
    assert_eq!((made.info.tail, made.info.events), (Offset::START, 0));
    assert_eq!(stage.payloads("s"), Vec::<&str>::new());
    let ack = stage.append(post("s", &["new"])).expect("appended");
    assert_eq!(ack.tail, Offset::at(3));
    assert_eq!(stage.payloads("s"), ["new"]);
    assert_eq!(stage.newest("s").expect("an event").payload, "new");
}

fn inherits_nothing(stage: Stage) {
    let mut old = post("s", &["a"]);
    (old.stream_seq, old.producer) = (Some("9".to_owned()), claim("p", 3, 0));
    stage.append(old).expect("appended");
    stage.trim("s", Offset::at(1)).expect("trimmed");
    stage.delete("s").expect("deleted");
    stage.create(json("s")).expect("of another type");
    let mut new = post("s", &["1"]);
    new.content_type = Some(content_type("application/json"));
    (new.stream_seq, new.producer) = (Some("1".to_owned()), claim("p", 0, 0));
    assert!(!stage.append(new).expect("appended").duplicate);
    assert_eq!(stage.payloads("s"), ["1"]);
}

fn closed(stage: Stage) {
    let mut last = post("s", &["a"]);
    last.close = true;
    stage.append(last).expect("appended");
    stage.delete("s").expect("deleted");
    stage.append(post("s", &["b"])).expect("an open stream again");
    assert_eq!(stage.payloads("s"), ["b"]);
}
