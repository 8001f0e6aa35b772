//! Trims.

use super::run::Case;
use crate::conformance::stage::{Stage, at, named, payloads, post};
use crate::offset::{Offset, ReadFrom};
use crate::request::{ReadError, StreamError};

pub(super) const CASES: &[Case] = &[
    ("a trim gives up whole events", whole_events),
    ("what was trimmed is refused, not passed over", trimmed_is_refused),
    ("everything may be trimmed", everything),
    ("a trim that gives up nothing changes nothing", nothing),
    ("an absent stream cannot be trimmed", absent),
];

fn whole_events(stage: Stage) {
    stage.append(post("s", &["aaa", "bbb", "ccc"])).expect("appended");
    assert_eq!(stage.trim("s", Offset::at(5)), Ok(Offset::at(3)));
    let info = stage.describe("s").expect("described");
    assert_eq!((info.earliest, info.tail), (Offset::at(3), Offset::at(9)));
    assert_eq!((info.events, info.bytes), (2, 6));
    assert_eq!(stage.payloads("s"), ["bbb", "ccc"]);
    assert_eq!(stage.trim("s", Offset::at(6)), Ok(Offset::at(6)));
    let page = stage.read("s", ReadFrom::Start).expect("read");
    assert_eq!((page.start, payloads(&page)), (Offset::at(6), vec!["ccc".into()]));
    let ack = stage.append(post("s", &["d"])).expect("appended");
    assert_eq!(ack.tail, Offset::at(10), "offsets go on");
    assert_eq!(stage.payloads("s"), ["ccc", "d"]);
}

fn trimmed_is_refused(stage: Stage) {
    let ack = stage.append(post("s", &["aa", "bb"])).expect("appended");
    stage.trim("s", Offset::at(2)).expect("trimmed");
    let earliest = Offset::at(2);
    for position in 0..2 {
        let refused = Err(ReadError::Trimmed { earliest });
        assert_eq!(stage.read("s", at(position)), refused);
        assert_eq!(stage.read_id(ack.stream, at(position)), refused);
    }
    assert_eq!(payloads(&stage.read("s", at(2)).expect("read")), ["bb"]);
    assert_eq!(payloads(&stage.read("s", at(3)).expect("read")), ["b"]);
    assert_eq!(payloads(&stage.read("s", ReadFrom::Last).expect("read")), ["bb"]);
}

fn everything(stage: Stage) {
    stage.append(post("s", &["aa", "bb"])).expect("appended");
    let tail = Offset::at(4);
    assert_eq!(stage.trim("s", Offset::at(99)), Ok(tail));
    let info = stage.describe("s").expect("described");
    assert_eq!((info.earliest, info.tail), (tail, tail));
    assert_eq!((info.events, info.bytes), (0, 0));
    assert_eq!(stage.newest("s"), None);
    for from in [ReadFrom::Start, ReadFrom::Last, ReadFrom::Now, at(4)] {
        let page = stage.read("s", from).expect("read");
        assert_eq!((page.start, page.next), (tail, tail));
        assert!(page.up_to_date());
    }
    stage.append(post("s", &["c"])).expect("appended");
    assert_eq!(stage.payloads("s"), ["c"]);
    assert_eq!(stage.newest("s").expect("an event").payload, "c");
}

fn nothing(stage: Stage) {
    stage.append(post("s", &["aa", "bb"])).expect("appended");
    let told = stage.record.len();
    assert_eq!(stage.trim("s", Offset::START), Ok(Offset::START));
    assert_eq!(stage.trim("s", Offset::at(1)), Ok(Offset::START));
    assert_eq!(stage.record.len(), told);
    assert_eq!(stage.trim("s", Offset::at(2)), Ok(Offset::at(2)));
    assert_eq!(stage.record.len(), told + 1);
    assert_eq!(stage.trim("s", Offset::at(1)), Ok(Offset::at(2)));
    assert_eq!(stage.record.len(), told + 1);
    assert_eq!(stage.payloads("s"), ["bb"]);
}

fn absent(stage: Stage) {
    let refused = crate::conformance::block_on(stage.store.trim(named("s"), Offset::START));
    assert_eq!(refused, Err(StreamError::NotFound));
}
