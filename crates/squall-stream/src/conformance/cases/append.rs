//! Appends without a producer.

use std::sync::Arc;
use std::thread;

use bytes::Bytes;

use super::run::Case;
use crate::conformance::stage::{Stage, bytes, content_type, json, named, payloads, post, text};
use crate::conformance::wait::block_on;
use crate::content_type::ContentType;
use crate::observer::Health;
use crate::offset::{Offset, ReadFrom};
use crate::request::{Append, AppendError, CreateAck};

pub(super) const CASES: &[Case] = &[
    ("offsets count bytes", offsets_count_bytes),
    ("events of one append follow one another", several_events),
    ("an append without a stream is refused", no_stream),
    ("another content type is refused", another_content_type),
    ("Stream-Seq must grow, byte by byte", stream_seq),
    ("a refused append leaves nothing", refused_leaves_nothing),
    ("any bytes come back as they were sent", any_bytes),
    ("an append outlives its future", dropped_future),
    ("appends at the same time are each stored once", at_the_same_time),
    ("streams do not touch one another", separate_streams),
    ("the store is ready and counts what it stores", counts),
    ("a store that was shut down takes no changes", shut_down),
];

fn offsets_count_bytes(stage: Stage) {
    let mut tail = 0;
    for payload in ["a", "bcd", "日本", "\n"] {
        let ack = stage.append(post("s", &[payload])).expect("appended");
        tail += payload.len() as u64;
        assert_eq!(ack.tail, Offset::at(tail));
        assert_eq!((ack.duplicate, ack.closed, ack.producer), (false, false, None));
    }
    let page = stage.read("s", ReadFrom::Start).expect("read");
    let ends: Vec<_> = page.entries.iter().map(|entry| entry.end).collect();
    assert_eq!(ends, [1, 4, 10, 11].map(Offset::at));
    assert_eq!((page.next, page.tail), (Offset::at(11), Offset::at(11)));
    let info = stage.describe("s").expect("described");
    assert_eq!((info.events, info.bytes, info.tail), (4, 11, Offset::at(11)));
}

fn several_events(stage: Stage) {
    stage.create(json("s")).expect("created");
    let mut append = post("s", &["{\"a\":1}", "2", "null"]);
    append.content_type = Some(content_type("application/json"));
    let ack = stage.append(append).expect("appended");
    assert_eq!(ack.tail, Offset::at(12));
    assert_eq!(stage.payloads("s"), ["{\"a\":1}", "2", "null"]);
}

fn no_stream(stage: Stage) {
    let append = Append::new(named("s"), ContentType::text_plain(), vec![bytes("x")]);
    assert_eq!(stage.append(append), Err(AppendError::NotFound));
}

fn another_content_type(stage: Stage) {
    stage.create(text("s")).expect("created");
    let mut append = post("s", &["x"]);
    append.content_type = Some(content_type("application/json"));
    let expected = ContentType::text_plain();
    let refused = AppendError::ContentTypeMismatch { expected };
    assert_eq!(stage.append(append.clone()), Err(refused));
    append.content_type = Some(content_type("TEXT/PLAIN;charset=utf-8"));
    stage.append(append).expect("parameters and case do not matter");
}

fn stream_seq(stage: Stage) {
    let with = |seq: &str| {
        let mut append = post("s", &["x"]);
        append.stream_seq = Some(seq.to_owned());
        stage.append(append).map(|ack| ack.tail)
    };
    let refused = |last: &str| {
        let last = last.to_owned();
        Err(AppendError::SequenceNotGreater { last })
    };
    assert_eq!(with("09"), Ok(Offset::at(1)));
    assert_eq!(with("10"), Ok(Offset::at(2)));
    assert_eq!(with("10"), refused("10"));
    assert_eq!(with("1"), refused("10"));
    assert_eq!(with("2"), Ok(Offset::at(3)));
    assert_eq!(with("10"), refused("2"));
    assert_eq!(with("A"), Ok(Offset::at(4)));
    assert_eq!(with("a"), Ok(Offset::at(5)));
    assert_eq!(with("B"), refused("a"));
    stage.append(post("s", &["x"])).expect("none is no sequence");
    assert_eq!(with("a"), refused("a"));
}

fn refused_leaves_nothing(stage: Stage) {
    let mut first = post("s", &["a"]);
    first.stream_seq = Some("5".to_owned());
    stage.append(first.clone()).expect("appended");
    let before = stage.describe("s");
    let told = stage.record.len();
    first.events = vec![bytes("lost"), bytes("too")];
    stage.append(first.clone()).expect_err("the sequence is used");
    first.stream_seq = Some("9".to_owned());
    first.content_type = Some(content_type("image/png"));
    stage.append(first.clone()).expect_err("the type differs");
    assert_eq!(stage.describe("s"), before);
    assert_eq!(stage.payloads("s"), ["a"]);
    assert_eq!(stage.record.len(), told);
    first.stream_seq = Some("6".to_owned());
    first.content_type = Some(ContentType::text_plain());
    stage.append(first).expect("the refused sequence was not kept");
}

fn any_bytes(stage: Stage) {
    let all: Vec<u8> = (0..=255).collect();
    let large: Vec<u8> = all.iter().copied().cycle().take(1 << 20).collect();
    let mut append = post("s", &[]);
    append.events = vec![Bytes::from(all), Bytes::from_static(b"\0"), Bytes::from(large)];
    append.content_type = Some(ContentType::octet_stream());
    stage.append(append.clone()).expect("appended");
    assert_eq!(stage.payloads("s"), append.events);
    let newest = stage.newest("s").expect("an event");
    assert_eq!(Some(&newest.payload), append.events.last());
    assert_eq!(newest.content_type, ContentType::octet_stream());
}

fn dropped_future(stage: Stage) {
    let CreateAck { info, .. } = stage.create(text("s")).expect("created");
    let mut future = stage.store.append(post("s", &["kept"]));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    // One poll hands it over, if calling the method did not.
    let _first_poll = future.as_mut().poll(&mut context);
    drop(future);
    // What is handed over later is stored behind it.
    stage.append(post("s", &["later"])).expect("appended");
    let page = stage.read_id(info.stream, ReadFrom::Start).expect("read");
    assert_eq!(payloads(&page), ["kept", "later"]);
}

fn at_the_same_time(stage: Stage) {
    const WRITERS: usize = 4;
    const APPENDS: usize = 25;
    stage.create(text("s")).expect("created");
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = Arc::clone(&stage.store);
            thread::spawn(move || {
                for turn in 0..APPENDS {
                    let append = post("s", &[&format!("{writer}.{turn:02}")]);
                    block_on(store.append(append)).expect("appended");
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().expect("the writer ends well");
    }
    let found = stage.payloads("s");
    assert_eq!(found.len(), WRITERS * APPENDS);
    for writer in 0..WRITERS {
        let mine = found.iter().filter(|event| event.starts_with(format!("{writer}.").as_bytes()));
        let expected = (0..APPENDS).map(|turn| format!("{writer}.{turn:02}"));
        assert!(mine.eq(expected.map(Bytes::from).collect::<Vec<_>>().iter()));
    }
}

fn separate_streams(stage: Stage) {
    for turn in 0..3 {
        for name in ["a", "a/b", "b"] {
            stage.append(post(name, &[&format!("{name}{turn}")])).expect("appended");
        }
    }
    assert_eq!(stage.payloads("a"), ["a0", "a1", "a2"]);
    assert_eq!(stage.payloads("a/b"), ["a/b0", "a/b1", "a/b2"]);
    stage.delete("a").expect("deleted");
    assert_eq!(stage.payloads("b"), ["b0", "b1", "b2"]);
}

fn counts(stage: Stage) {
    assert_eq!(stage.store.health(), Health::Ready);
    let before = stage.store.gauges();
    stage.append(post("s", &["abc", "de"])).expect("appended");
    let after = stage.store.gauges();
    assert_eq!(after.appended_events_total - before.appended_events_total, 2);
    assert_eq!(after.appended_bytes_total - before.appended_bytes_total, 5);
    assert!(after.batches_total > before.batches_total);
    assert!(after.batched_changes_total > before.batched_changes_total);
}

fn shut_down(stage: Stage) {
    stage.append(post("s", &["a"])).expect("appended");
    block_on(stage.store.shut_down()).expect("the store shuts down");
    let refused = stage.append(post("s", &["b"]));
    assert!(matches!(refused, Err(AppendError::Store(_))), "{refused:?}");
    assert_ne!(stage.store.health(), Health::Ready);
    block_on(stage.store.shut_down()).expect("a second time does no harm");
}
