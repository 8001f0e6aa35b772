//! What is there after a store was shut down and opened again.

use super::run::Case;
use crate::conformance::stage::{Stage, claim, close, post, text};
use crate::expiry::Expiry;
use crate::offset::{Offset, ReadFrom};
use crate::request::{AppendError, Create, ReadError, StreamError};

pub(super) const CASES: &[Case] = &[
    ("events outlive the process", events),
    ("rules outlive the process", rules),
    ("a deletion and a trim outlive the process", gone),
    ("an id is not used again by a later process", ids),
    ("an expiry outlives the process", expiry),
];

fn events(stage: Stage) {
    stage.append(post("s", &["a", "bc"])).expect("appended");
    stage.append(post("t", &["x"])).expect("appended");
    let before = (stage.describe("s"), stage.read("s", ReadFrom::Start));
    let stage = stage.reopen();
    assert_eq!((stage.describe("s"), stage.read("s", ReadFrom::Start)), before);
    let ack = stage.append(post("s", &["d"])).expect("appended");
    assert_eq!(ack.tail, Offset::at(4));
    let stage = stage.reopen();
    assert_eq!(stage.payloads("s"), ["a", "bc", "d"]);
    assert_eq!(stage.payloads("t"), ["x"]);
    assert_eq!(stage.newest("s").expect("an event").payload, "d");
}

fn rules(stage: Stage) {
    let mut append = post("s", &["a"]);
    (append.producer, append.stream_seq) = (claim("p", 2, 0), Some("5".to_owned()));
    stage.append(append.clone()).expect("appended");
    let mut last = close("t");
    last.producer = claim("p", 0, 0);
    stage.create(text("t")).expect("created");
    stage.append(last.clone()).expect("closed");
    let stage = stage.reopen();
    assert!(stage.append(append.clone()).expect("a retry").duplicate);
    append.producer = claim("p", 2, 1);
    let used = AppendError::SequenceNotGreater { last: "5".to_owned() };
    assert_eq!(stage.append(append), Err(used));
    assert!(stage.append(last).expect("a retry").duplicate);
    let tail = Offset::START;
    assert_eq!(stage.append(post("t", &["x"])), Err(AppendError::Closed { tail }));
    let mut full = post("s", &["b"]);
    full.producer = claim("q", 0, 0);
    stage.append(full.clone()).expect("the second producer");
    let stage = stage.reopen();
    full.producer = claim("r", 0, 0);
    let refused = AppendError::ProducersFull { max: 2 };
    assert_eq!(stage.append(full), Err(refused));
}

fn gone(stage: Stage) {
    stage.append(post("deleted", &["a"])).expect("appended");
    stage.delete("deleted").expect("deleted");
    stage.append(post("anew", &["old"])).expect("appended");
    stage.delete("anew").expect("deleted");
    stage.append(post("anew", &["new"])).expect("appended");
    stage.append(post("trimmed", &["a", "b"])).expect("appended");
    stage.trim("trimmed", Offset::at(1)).expect("trimmed");
    let stage = stage.reopen();
    assert_eq!(stage.describe("deleted"), Err(StreamError::NotFound));
    assert_eq!(stage.payloads("anew"), ["new"]);
    assert_eq!(stage.payloads("trimmed"), ["b"]);
    let info = stage.describe("trimmed").expect("described");
    assert_eq!((info.earliest, info.events), (Offset::at(1), 1));
    let early = stage.read("trimmed", ReadFrom::At(Offset::START));
    let earliest = Offset::at(1);
    assert_eq!(early, Err(ReadError::Trimmed { earliest }));
}

fn ids(mut stage: Stage) {
    let mut seen = Vec::new();
    for _ in 0..3 {
        let ack = stage.append(post("s", &["x"])).expect("appended");
        assert!(!seen.contains(&ack.stream));
        seen.push(ack.stream);
        stage.delete("s").expect("deleted");
        stage = stage.reopen();
    }
}

fn expiry(stage: Stage) {
    let sliding = Create { expiry: Expiry::Ttl(10), ..text("s") };
    stage.create(sliding).expect("created");
    stage.pass(9_000);
    stage.read("s", ReadFrom::Start).expect("read");
    let stage = stage.reopen();
    // At least one renewal interval from opening, whatever of the read was written down.
    stage.pass(2_499);
    let info = stage.describe("s").expect("never earlier than promised");
    assert_eq!(info.expiry, Expiry::Ttl(10));
    stage.pass(10_000);
    assert_eq!(stage.describe("s"), Err(StreamError::NotFound));
}
