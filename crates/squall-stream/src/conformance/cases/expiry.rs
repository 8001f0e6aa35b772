//! Streams that end by themselves.

use super::run::Case;
use crate::conformance::stage::{BEGIN, Stage, bytes, claim, close, post, text};
use crate::expiry::Expiry;
use crate::observer::Change;
use crate::offset::{Offset, ReadFrom};
use crate::request::{Append, AppendError, Create, List, ReadError, StreamError};

pub(super) const CASES: &[Case] = &[
    ("an expired stream is gone everywhere", gone),
    ("reads and appends move a sliding expiry", renewed),
    ("looking at a stream does not renew it", not_renewed),
    ("a refused request renews nothing", refused),
    ("a follower's renewal moves a sliding expiry", followed),
    ("an instant does not move", instant),
    ("the name of an expired stream is free", free_name),
    ("an append may create anew what has expired", append_anew),
    ("a stream may be born expired", born_expired),
];

fn sliding(name: &str) -> Create {
    Create { expiry: Expiry::Ttl(10), ..text(name) }
}

fn gone(stage: Stage) {
    let made = stage.create(sliding("s")).expect("created");
    assert_eq!(made.info.expiry, Expiry::Ttl(10));
    stage.pass(10_000);
    assert_eq!(stage.describe("s"), Err(StreamError::NotFound));
    assert_eq!(stage.read("s", ReadFrom::Now), Err(ReadError::NotFound));
    let by_id = stage.read_id(made.info.stream, ReadFrom::Start);
    assert_eq!(by_id, Err(ReadError::NotFound));
    assert_eq!(stage.append(close("s")), Err(AppendError::NotFound));
    assert_eq!(stage.trim("s", Offset::START), Err(StreamError::NotFound));
    assert_eq!(stage.delete("s"), Err(StreamError::NotFound));
    assert_eq!(stage.newest("s"), None);
    stage.store.renew(made.info.stream);
    assert_eq!(stage.describe("s"), Err(StreamError::NotFound));
}

fn renewed(stage: Stage) {
    stage.create(sliding("s")).expect("created");
    let mut append = post("s", &["a"]);
    append.producer = claim("p", 0, 0);
    let retry = || stage.append(append.clone());
    let accesses: [(&str, &dyn Fn() -> bool); 8] = [
        ("append", &|| retry().is_ok_and(|ack| !ack.duplicate)),
        ("duplicate", &|| retry().is_ok_and(|ack| ack.duplicate)),
        ("read", &|| stage.read("s", ReadFrom::Start).is_ok()),
        ("read at the tail", &|| stage.read("s", ReadFrom::Now).is_ok()),
        ("newest", &|| stage.newest("s").is_some()),
        ("creation", &|| stage.create(sliding("s")).is_ok()),
        ("close", &|| stage.append(close("s")).is_ok()),
        ("second close", &|| stage.append(close("s")).is_ok()),
    ];
    for (name, access) in accesses {
        stage.pass(9_999);
        assert!(access(), "{name}");
        stage.pass(9_999);
        assert!(stage.describe("s").is_ok(), "{name} renews");
        stage.read("s", ReadFrom::Now).expect("renewed for the next");
    }
    stage.pass(10_000);
    assert_eq!(stage.describe("s"), Err(StreamError::NotFound));
}

fn not_renewed(stage: Stage) {
    stage.append(post("other", &["a"])).expect("appended");
    let made = stage.create(sliding("s")).expect("created");
    stage.pass(9_999);
    stage.describe("s").expect("described");
    let list = List { limit: 10, ..List::default() };
    assert_eq!(stage.list(list).streams.len(), 2);
    let by_id = stage.read_id(made.info.stream, ReadFrom::Start);
    by_id.expect("read");
    stage.trim("s", Offset::START).expect("trimmed");
    stage.pass(1);
    assert_eq!(stage.describe("s"), Err(StreamError::NotFound));
}

fn refused(stage: Stage) {
    stage.create(sliding("s")).expect("created");
    stage.pass(9_999);
    let beyond = ReadFrom::At(Offset::at(1));
    stage.read("s", beyond).expect_err("beyond the tail");
    stage.create(text("s")).expect_err("another expiry");
    let mut gap = post("s", &["a"]);
    gap.producer = claim("p", 0, 1);
    stage.append(gap).expect_err("a gap");
    stage.pass(1);
    assert_eq!(stage.describe("s"), Err(StreamError::NotFound));
}

fn followed(stage: Stage) {
    let made = stage.create(sliding("s")).expect("created");
    for _ in 0..3 {
        stage.pass(9_999);
        stage.store.renew(made.info.stream);
    }
    stage.pass(9_999);
    assert!(stage.describe("s").is_ok());
    stage.pass(1);
    assert_eq!(stage.describe("s"), Err(StreamError::NotFound));
}

fn instant(stage: Stage) {
    let until = BEGIN.plus(10_000);
    let create = Create { expiry: Expiry::At(until), ..text("s") };
    stage.create(create.clone()).expect("created");
    stage.pass(9_999);
    stage.append(post("s", &["a"])).expect("appended");
    stage.read("s", ReadFrom::Start).expect("read");
    let info = stage.create(create).expect("stands").info;
    assert_eq!(info.expiry, Expiry::At(until));
    stage.pass(1);
    assert_eq!(stage.describe("s"), Err(StreamError::NotFound));
}

fn free_name(stage: Stage) {
    let old = Create { events: vec![bytes("old")], ..sliding("s") };
    let old = stage.create(old).expect("created").info.stream;
    stage.pass(10_000);
    let new = stage.create(text("s")).expect("of another expiry");
    assert!(new.created);
    let new = new.info.stream;
    assert_ne!(new, old);
    assert_eq!(stage.payloads("s"), Vec::<&str>::new());
    let changes = stage.record.changes();
    let [.., ended, created] = changes.as_slice() else {
        panic!("{changes:?}");
    };
    assert!(matches!(ended, Change::Ended { stream } if *stream == old));
    assert!(matches!(created, Change::Created { stream, .. } if *stream == new));
}

fn append_anew(stage: Stage) {
    stage.create(sliding("s")).expect("created");
    let mut old = post("s", &["old"]);
    old.producer = claim("p", 0, 0);
    let old_id = stage.append(old).expect("appended").stream;
    stage.pass(10_000);
    let without = Append { create: false, ..post("s", &["new"]) };
    assert_eq!(stage.append(without), Err(AppendError::NotFound));
    let mut new = post("s", &["new"]);
    new.producer = claim("p", 0, 0);
    let ack = stage.append(new).expect("appended");
    assert_ne!(ack.stream, old_id);
    assert!(!ack.duplicate);
    assert_eq!(stage.payloads("s"), ["new"]);
    let info = stage.describe("s").expect("described");
    assert_eq!(info.expiry, Expiry::Never);
}

fn born_expired(stage: Stage) {
    for expiry in [Expiry::Ttl(0), Expiry::At(BEGIN)] {
        let create = Create { expiry, closed: true, events: vec![bytes("a")], ..text("s") };
        for _ in 0..2 {
            let ack = stage.create(create.clone()).expect("created");
            assert!(ack.created);
            assert_eq!((ack.info.tail, ack.info.closed), (Offset::at(1), true));
            assert_eq!(stage.describe("s"), Err(StreamError::NotFound));
        }
    }
}
