//! What the observer is told, and when.

use std::sync::Arc;
use std::thread;

use super::run::Case;
use crate::conformance::stage::{PAGE_BYTES, Stage, bytes, claim, close, content_type, post, text};
use crate::conformance::wait::block_on;
use crate::observer::Change;
use crate::offset::{Offset, ReadFrom};
use crate::request::{Create, Read, ReadTarget};

pub(super) const CASES: &[Case] = &[
    ("every change is told, in order, with its bytes", in_order),
    ("creation is told before its first events", creation),
    ("what changes nothing is not told", nothing),
    ("a change is told before it is acknowledged", before_the_ack),
    ("what was told can be read", told_is_visible),
    ("the order that is told is the order that is read", order_of_writers),
];

/// A change in short, with the stream left out.
fn short(change: &Change) -> String {
    match change {
        Change::Created { name, .. } => format!("created {name}"),
        Change::Appended { events, tail, closed, .. } => {
            let events: Vec<_> =
                events.iter().map(|event| String::from_utf8_lossy(&event.payload)).collect();
            let tail = tail.position().unwrap_or_default();
            let closed = if *closed { " closed" } else { "" };
            format!("appended {} to {tail}{closed}", events.join(","))
        }
        Change::Ended { .. } => "ended".to_owned(),
        Change::Trimmed { earliest, .. } => {
            format!("trimmed to {}", earliest.position().unwrap_or_default())
        }
    }
}

fn stream_of(change: &Change) -> crate::store::StreamId {
    match change {
        Change::Created { stream, .. }
        | Change::Appended { stream, .. }
        | Change::Ended { stream }
        | Change::Trimmed { stream, .. } => *stream,
    }
}

fn told(stage: &Stage) -> Vec<String> {
    stage.record.changes().iter().map(short).collect()
}

fn in_order(stage: Stage) {
    let made = stage.create(text("s")).expect("created");
    stage.append(post("s", &["a", "bc"])).expect("appended");
    stage.trim("s", Offset::at(1)).expect("trimmed");
    stage.append(post("s", &["d"])).expect("appended");
    stage.append(close("s")).expect("closed");
    stage.delete("s").expect("deleted");
    let expected = [
        "created s",
        "appended a,bc to 3",
        "trimmed to 1",
        "appended d to 4",
        "appended  to 4 closed",
        "ended",
    ];
    assert_eq!(told(&stage), expected);
    let changes = stage.record.changes();
    let id = made.info.stream;
    assert!(changes.iter().all(|change| stream_of(change) == id));
    let Change::Appended { events, .. } = &changes[1] else {
        panic!("{changes:?}");
    };
    let borders: Vec<_> = events.iter().map(|event| (event.start, event.end)).collect();
    let [start, middle, end] = [0, 1, 3].map(Offset::at);
    assert_eq!(borders, [(start, middle), (middle, end)]);
}

fn creation(stage: Stage) {
    let create = Create { events: vec![bytes("x"), bytes("y")], closed: true, ..text("with") };
    stage.create(create).expect("created");
    let create = Create { closed: true, ..text("closed") };
    stage.create(create).expect("created");
    stage.append(post("by-append", &["z"])).expect("appended");
    let expected = [
        "created with",
        "appended x,y to 2 closed",
        "created closed",
        "appended  to 0 closed",
        "created by-append",
        "appended z to 1",
    ];
    assert_eq!(told(&stage), expected);
}

fn nothing(stage: Stage) {
    let mut append = post("s", &["a"]);
    append.producer = claim("p", 0, 0);
    stage.append(append.clone()).expect("appended");
    let before = told(&stage);
    stage.create(text("s")).expect("stands");
    stage.append(append.clone()).expect("a retry");
    append.content_type = Some(content_type("image/png"));
    stage.append(append).expect_err("the type differs");
    stage.delete("other").expect_err("no such stream");
    stage.read("s", ReadFrom::Start).expect("read");
    stage.describe("s").expect("described");
    assert!(stage.newest("s").is_some());
    assert_eq!(told(&stage), before);
}

fn before_the_ack(stage: Stage) {
    for turn in 0..50_u64 {
        let ack = stage.append(post("s", &["x"])).expect("appended");
        assert_eq!(ack.tail, Offset::at(turn + 1));
        let last = stage.record.changes().pop().expect("a change");
        assert_eq!(short(&last), format!("appended x to {}", turn + 1));
    }
}

fn told_is_visible(stage: Stage) {
    const APPENDS: usize = 50;
    let made = stage.create(text("s")).expect("created");
    let (store, record) = (Arc::clone(&stage.store), Arc::clone(&stage.record));
    let reader = thread::spawn(move || {
        for position in 1..=APPENDS {
            let Change::Appended { tail, .. } = record.wait_for(position) else {
                panic!("an append is told");
            };
            let read = Read {
                target: ReadTarget::Id(made.info.stream),
                from: ReadFrom::Start,
                bytes_max: PAGE_BYTES,
            };
            let page = block_on(store.read(read)).expect("read");
            assert!(page.next >= tail, "told of {tail}, read up to {}", page.next);
        }
    });
    for _ in 0..APPENDS {
        stage.append(post("s", &["x"])).expect("appended");
    }
    reader.join().expect("the reader sees what is told");
}

fn order_of_writers(stage: Stage) {
    let made = stage.create(text("s")).expect("created");
    let writers: Vec<_> = ["a", "b", "c"]
        .into_iter()
        .map(|payload| {
            let store = Arc::clone(&stage.store);
            thread::spawn(move || {
                for _ in 0..20 {
                    block_on(store.append(post("s", &[payload]))).expect("appended");
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().expect("the writer ends well");
    }
    let page = stage.read_id(made.info.stream, ReadFrom::Start);
    let read: Vec<_> = page.expect("read").events().collect();
    let mut told = Vec::new();
    for change in stage.record.changes() {
        if let Change::Appended { events, .. } = change {
            told.extend(events);
        }
    }
    assert_eq!(told, read);
}
