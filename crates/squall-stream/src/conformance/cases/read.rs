//! Reads.

use super::run::Case;
use crate::conformance::stage::{Stage, at, content_type, json, named, payloads, post, text};
use crate::event::Page;
use crate::offset::{Offset, ReadFrom};
use crate::request::{ReadError, ReadTarget};
use crate::store::StreamId;

pub(super) const CASES: &[Case] = &[
    ("a read starts where it is asked to", starts),
    ("a read may start inside bytes", inside_bytes),
    ("a read may not start inside an element", inside_element),
    ("an offset behind the tail is refused", beyond_the_tail),
    ("a page holds at least one event and no more than fits", page_sizes),
    ("pages join up", pages_join_up),
    ("a stream is read by name or by id", targets),
    ("an absent stream is not found", absent),
    ("the newest event is the last one appended", newest),
];

fn starts(stage: Stage) {
    let ack = stage.append(post("s", &["aa", "bbb", "c"])).expect("appended");
    let check = |from, start, expected: &[&str]| {
        let page = stage.read("s", from).expect("read");
        assert_eq!(page.start, Offset::at(start), "{from:?}");
        assert_eq!(payloads(&page), expected, "{from:?}");
        assert_eq!((page.next, page.tail), (ack.tail, ack.tail));
        assert_eq!((page.stream, page.created_at), (ack.stream, stage.now()));
        assert_eq!(page.content_type.as_str(), "text/plain");
    };
    check(ReadFrom::Start, 0, &["aa", "bbb", "c"]);
    check(at(0), 0, &["aa", "bbb", "c"]);
    check(at(2), 2, &["bbb", "c"]);
    check(at(5), 5, &["c"]);
    check(ReadFrom::Last, 5, &["c"]);
    check(at(6), 6, &[]);
    check(ReadFrom::Now, 6, &[]);
}

fn inside_bytes(stage: Stage) {
    stage.append(post("s", &["abc", "def"])).expect("appended");
    let page = stage.read("s", at(1)).expect("read");
    assert_eq!((page.start, page.next), (Offset::at(1), Offset::at(6)));
    assert_eq!(payloads(&page), ["bc", "def"]);
    assert_eq!(page.entries[0].end, Offset::at(3));
    assert_eq!(payloads(&stage.read("s", at(5)).expect("read")), ["f"]);
    let target = ReadTarget::Name(named("s"));
    let page = stage.read_page(target, at(2), 1).expect("read");
    assert_eq!(payloads(&page), ["c"]);
    assert_eq!(page.next, Offset::at(3));
}

fn inside_element(stage: Stage) {
    stage.create(json("s")).expect("created");
    let mut append = post("s", &["[1]", "{}"]);
    append.content_type = Some(content_type("application/json"));
    stage.append(append).expect("appended");
    let inside = |end| {
        let end = Offset::at(end);
        Err(ReadError::InsideEvent { end })
    };
    assert_eq!(stage.read("s", at(1)), inside(3));
    assert_eq!(stage.read("s", at(2)), inside(3));
    assert_eq!(stage.read("s", at(4)), inside(5));
    assert_eq!(payloads(&stage.read("s", at(3)).expect("read")), ["{}"]);
    assert!(stage.read("s", at(5)).expect("read").up_to_date());
}

fn beyond_the_tail(stage: Stage) {
    stage.append(post("s", &["abc"])).expect("appended");
    let tail = Offset::at(3);
    let refused = || Err(ReadError::BeyondTail { tail });
    assert_eq!(stage.read("s", at(4)), refused());
    for foreign in ["9999999999999999_9999999999999999", "0000000000000001_0000000000000000"] {
        let offset = foreign.parse().expect("an offset");
        assert_eq!(stage.read("s", ReadFrom::At(offset)), refused());
    }
}

fn page_sizes(stage: Stage) {
    stage.append(post("s", &["aaaa", "bb", "cc", "d"])).expect("appended");
    let check = |from, bytes_max, expected: &[&str]| {
        let target = ReadTarget::Name(named("s"));
        let page = stage.read_page(target, from, bytes_max).expect("read");
        assert_eq!(payloads(&page), expected, "{from:?} {bytes_max}");
        assert_eq!(page.tail, Offset::at(9));
        assert_eq!(page.data.len(), expected.concat().len());
    };
    check(ReadFrom::Start, 0, &["aaaa"]);
    check(ReadFrom::Start, 5, &["aaaa"]);
    check(ReadFrom::Start, 6, &["aaaa", "bb"]);
    check(ReadFrom::Start, 8, &["aaaa", "bb", "cc"]);
    check(ReadFrom::Start, 9, &["aaaa", "bb", "cc", "d"]);
    check(at(3), 3, &["a", "bb"]);
    check(at(9), 0, &[]);
}

fn pages_join_up(stage: Stage) {
    let events: Vec<String> = (0..50).map(|event| event.to_string()).collect();
    for event in &events {
        stage.append(post("s", &[event])).expect("appended");
    }
    let mut found = Vec::new();
    let mut from = ReadFrom::Start;
    loop {
        let target = ReadTarget::Name(named("s"));
        let page = stage.read_page(target, from, 7).expect("read");
        check_page(&page);
        found.extend(payloads(&page));
        if page.up_to_date() {
            break;
        }
        from = ReadFrom::At(page.next);
    }
    assert_eq!(found, events);
}

/// What holds for every page that holds events.
fn check_page(page: &Page) {
    let ends = page.entries.iter().map(|entry| entry.end);
    assert!(ends.is_sorted_by(|a, b| a < b));
    let last = page.entries.last().expect("at least one event");
    assert_eq!((last.end, last.data_end), (page.next, page.data.len()));
    assert!(page.start < page.next && page.next <= page.tail);
}

fn targets(stage: Stage) {
    let ack = stage.append(post("s", &["a"])).expect("appended");
    let by_id = stage.read_id(ack.stream, ReadFrom::Start);
    assert_eq!(stage.read("s", ReadFrom::Start), by_id);
    stage.delete("s").expect("deleted");
    stage.append(post("s", &["b"])).expect("appended");
    let gone = stage.read_id(ack.stream, ReadFrom::Start);
    assert_eq!(gone, Err(ReadError::NotFound), "not the later stream");
}

fn absent(stage: Stage) {
    stage.create(text("s")).expect("created");
    for from in [ReadFrom::Start, ReadFrom::Now, ReadFrom::Last, at(0)] {
        assert_eq!(stage.read("t", from), Err(ReadError::NotFound));
        let never = stage.read_id(StreamId(u64::from(u32::MAX)), from);
        assert_eq!(never, Err(ReadError::NotFound));
    }
    assert_eq!(stage.newest("t"), None);
}

fn newest(stage: Stage) {
    let check = |expected: &str| {
        let newest = stage.newest("s").expect("an event");
        assert_eq!(newest.payload, expected);
        assert_eq!(newest.content_type.as_str(), "text/plain");
    };
    stage.append(post("s", &["a", "b"])).expect("appended");
    check("b");
    stage.append(post("s", &["c"])).expect("appended");
    check("c");
    stage.delete("s").expect("deleted");
    assert_eq!(stage.newest("s"), None);
    stage.create(text("s")).expect("created");
    assert_eq!(stage.newest("s"), None);
    stage.append(post("s", &["d"])).expect("appended");
    check("d");
}
