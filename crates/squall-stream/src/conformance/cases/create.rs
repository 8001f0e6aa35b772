//! Creation.

use super::run::Case;
use crate::conformance::stage::{
    Stage, at, bytes, claim, content_type, json, payloads, post, text,
};
use crate::expiry::Expiry;
use crate::offset::{Offset, ReadFrom};
use crate::request::{AppendError, Create, CreateError, ReadError, StreamError};

pub(super) const CASES: &[Case] = &[
    ("a new stream is empty and begins at the start", new_stream),
    ("a creation that is repeated stands", repeated),
    ("another configuration is refused", differing),
    ("first events are stored with the stream", first_events),
    ("a stream may be closed from the start", closed_from_the_start),
    ("no content type means octets", octets_by_default),
    ("a stream id is never used again", ids),
    ("an append may create its stream", created_by_append),
    ("an append that is refused creates nothing", refused_append),
];

fn new_stream(stage: Stage) {
    let ack = stage.create(text("s")).expect("created");
    assert!(ack.created);
    let info = stage.describe("s").expect("described");
    assert_eq!(ack.info, info);
    assert_eq!((info.tail, info.earliest), (Offset::START, Offset::START));
    assert_eq!((info.events, info.bytes, info.closed), (0, 0, false));
    assert_eq!(info.content_type.as_str(), "text/plain");
    assert_eq!(info.created_at, stage.now());
    for from in [ReadFrom::Start, ReadFrom::Now, ReadFrom::Last, at(0)] {
        let page = stage.read("s", from).expect("read");
        assert_eq!((page.start, page.next), (Offset::START, Offset::START));
        assert!(page.up_to_date() && page.entries.is_empty() && page.data.is_empty());
        assert_eq!((page.stream, page.closed), (info.stream, false));
    }
    assert_eq!(stage.newest("s"), None);
}

fn repeated(stage: Stage) {
    let first = Create { events: vec![bytes("a")], expiry: Expiry::Ttl(60), ..text("s") };
    let made = stage.create(first.clone()).expect("created");
    stage.append(post("s", &["b"])).expect("appended");
    let again = Create { content_type: Some(content_type("TEXT/Plain; charset=utf-8")), ..first };
    let ack = stage.create(again).expect("stands");
    assert!(!ack.created);
    assert_eq!(ack.info.stream, made.info.stream);
    assert_eq!(ack.info.tail, Offset::at(2), "nothing is stored twice");
    assert_eq!(ack.info.content_type.as_str(), "text/plain");
    assert_eq!(stage.payloads("s"), ["a", "b"]);
}

fn differing(stage: Stage) {
    stage.create(text("s")).expect("created");
    let differs = |differs| Err(CreateError::Differs { differs });
    assert_eq!(stage.create(json("s")), differs("content type"));
    let expiring = Create { expiry: Expiry::Ttl(60), ..text("s") };
    assert_eq!(stage.create(expiring), differs("expiry"));
    let closed = Create { closed: true, ..text("s") };
    assert_eq!(stage.create(closed), differs("closed state"));
    assert!(!stage.describe("s").expect("described").closed);
}

fn first_events(stage: Stage) {
    let create = Create { events: vec![bytes("1"), bytes("22")], ..json("s") };
    let ack = stage.create(create).expect("created");
    assert_eq!((ack.info.tail, ack.info.events), (Offset::at(3), 2));
    assert_eq!(stage.payloads("s"), ["1", "22"]);
    let newest = stage.newest("s").expect("an event");
    assert_eq!(newest.payload, "22");
}

fn closed_from_the_start(stage: Stage) {
    let closed = Create { closed: true, events: vec![bytes("all")], ..text("s") };
    assert!(stage.create(closed.clone()).expect("created").info.closed);
    let page = stage.read("s", ReadFrom::Start).expect("read");
    assert_eq!(payloads(&page), ["all"]);
    assert!(page.ends_stream());
    assert!(!stage.create(closed).expect("stands").created);
    let tail = Offset::at(3);
    assert_eq!(stage.append(post("s", &["x"])), Err(AppendError::Closed { tail }));
    let empty = Create { closed: true, ..text("empty") };
    assert!(stage.create(empty).expect("created").info.closed);
    assert!(stage.read("empty", ReadFrom::Start).expect("read").ends_stream());
}

fn octets_by_default(stage: Stage) {
    let create = Create { content_type: None, ..text("s") };
    let ack = stage.create(create).expect("created");
    assert_eq!(ack.info.content_type.as_str(), "application/octet-stream");
}

fn ids(stage: Stage) {
    let mut seen = Vec::new();
    for _ in 0..3 {
        let ack = stage.append(post("s", &["x"])).expect("appended");
        assert!(!seen.contains(&ack.stream));
        seen.push(ack.stream);
        stage.delete("s").expect("deleted");
        for id in &seen {
            let gone = stage.read_id(*id, ReadFrom::Start);
            assert_eq!(gone, Err(ReadError::NotFound));
        }
    }
}

fn created_by_append(stage: Stage) {
    let ack = stage.append(post("s", &["one"])).expect("appended");
    assert_eq!((ack.tail, ack.duplicate), (Offset::at(3), false));
    let info = stage.describe("s").expect("described");
    assert_eq!((info.stream, info.expiry), (ack.stream, Expiry::Never));
    assert_eq!(info.content_type.as_str(), "text/plain");
    let again = stage.append(post("s", &["two"])).expect("appended");
    assert_eq!(again.stream, ack.stream);
}

fn refused_append(stage: Stage) {
    let mut append = post("s", &["x"]);
    append.producer = claim("p", 0, 1);
    let gap = AppendError::ProducerGap { expected: 0, received: 1 };
    assert_eq!(stage.append(append), Err(gap));
    assert_eq!(stage.describe("s"), Err(StreamError::NotFound));
    assert!(stage.record.is_empty());
}
