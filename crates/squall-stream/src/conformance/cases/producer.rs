//! Idempotent producers.

use super::run::Case;
use crate::conformance::stage::{Stage, claim, content_type, post};
use crate::offset::Offset;
use crate::request::{Append, AppendAck, AppendError};

pub(super) const CASES: &[Case] = &[
    ("a retry is stored once", retry),
    ("a gap in the sequence is refused", gap),
    ("a new epoch fences the old one off", epochs),
    ("a producer belongs to its stream", per_stream),
    ("a refused append advances no producer", refused),
    ("a retry comes before Stream-Seq", before_stream_seq),
    ("beyond the limit no producer is taken", full),
    ("idle producers make room, and only then go", idle),
];

fn by(id: &str, epoch: u64, seq: u64, payload: &str) -> Append {
    let mut append = post("s", &[payload]);
    append.producer = claim(id, epoch, seq);
    append
}

fn position(ack: &AppendAck) -> Option<(u64, u64)> {
    ack.producer.map(|last| (last.epoch, last.seq))
}

fn retry(stage: Stage) {
    for (seq, payload) in [(0, "a"), (1, "b"), (2, "c")] {
        let ack = stage.append(by("p", 0, seq, payload)).expect("appended");
        assert!(!ack.duplicate);
        assert_eq!(position(&ack), Some((0, seq)));
    }
    let told = stage.record.len();
    for seq in 0..3 {
        let again = stage.append(by("p", 0, seq, "x")).expect("a retry");
        assert!(again.duplicate);
        assert_eq!(again.tail, Offset::at(3), "the tail now");
        assert_eq!(position(&again), Some((0, 2)), "the highest accepted position");
    }
    assert_eq!(stage.payloads("s"), ["a", "b", "c"]);
    assert_eq!(stage.record.len(), told);
}

fn gap(stage: Stage) {
    stage.append(post("s", &["x"])).expect("appended");
    let gap = |expected, received| Err(AppendError::ProducerGap { expected, received });
    assert_eq!(stage.append(by("p", 0, 3, "a")), gap(0, 3));
    assert_eq!(stage.append(by("p", 5, 1, "a")), gap(0, 1));
    stage.append(by("p", 0, 0, "a")).expect("appended");
    assert_eq!(stage.append(by("p", 0, 2, "b")), gap(1, 2));
    stage.append(by("p", 0, 1, "b")).expect("appended");
}

fn epochs(stage: Stage) {
    stage.append(by("p", 1, 0, "a")).expect("any epoch may be the first");
    stage.append(by("p", 1, 1, "b")).expect("appended");
    let early = AppendError::ProducerEpochMustStartAtZero;
    assert_eq!(stage.append(by("p", 2, 2, "c")), Err(early));
    stage.append(by("p", 4, 0, "c")).expect("appended");
    let fenced = AppendError::ProducerFenced { epoch: 4 };
    assert_eq!(stage.append(by("p", 1, 2, "d")), Err(fenced.clone()));
    assert_eq!(stage.append(by("p", 1, 1, "b")), Err(fenced), "even a retry");
    stage.append(by("p", 4, 1, "d")).expect("appended");
    assert_eq!(stage.payloads("s"), ["a", "b", "c", "d"]);
}

fn per_stream(stage: Stage) {
    stage.append(by("p", 0, 0, "a")).expect("appended");
    stage.append(by("p", 0, 1, "b")).expect("appended");
    let mut other = post("other", &["a"]);
    other.producer = claim("p", 0, 0);
    assert!(!stage.append(other).expect("appended").duplicate);
    assert!(!stage.append(by("P", 0, 0, "c")).expect("appended").duplicate);
    stage.delete("s").expect("deleted");
    assert!(!stage.append(by("p", 0, 0, "a")).expect("appended").duplicate);
}

fn refused(stage: Stage) {
    let mut first = by("p", 0, 0, "a");
    first.stream_seq = Some("5".to_owned());
    stage.append(first).expect("appended");
    let mut wrong_type = by("p", 0, 1, "b");
    wrong_type.content_type = Some(content_type("image/png"));
    stage.append(wrong_type).expect_err("the type differs");
    let mut wrong_seq = by("p", 0, 1, "b");
    wrong_seq.stream_seq = Some("5".to_owned());
    stage.append(wrong_seq).expect_err("the sequence is used");
    let mut wrong_epoch = by("p", 1, 0, "b");
    wrong_epoch.stream_seq = Some("4".to_owned());
    stage.append(wrong_epoch).expect_err("the sequence is used");
    let ack = stage.append(by("p", 0, 1, "b")).expect("nothing was advanced");
    assert!(!ack.duplicate);
    assert_eq!(stage.payloads("s"), ["a", "b"]);
}

fn before_stream_seq(stage: Stage) {
    let mut append = by("p", 0, 0, "a");
    append.stream_seq = Some("5".to_owned());
    stage.append(append.clone()).expect("appended");
    assert!(stage.append(append).expect("a retry").duplicate);
}

fn full(stage: Stage) {
    stage.append(by("a", 0, 0, "a")).expect("appended");
    stage.append(by("b", 0, 0, "b")).expect("appended");
    let refused = AppendError::ProducersFull { max: 2 };
    assert_eq!(stage.append(by("c", 0, 0, "c")), Err(refused));
    stage.append(by("a", 0, 1, "d")).expect("a known one goes on");
    stage.append(by("b", 1, 0, "e")).expect("a known one starts again");
    stage.append(post("s", &["f"])).expect("no producer, no limit");
    assert_eq!(stage.payloads("s"), ["a", "b", "d", "e", "f"]);
}

fn idle(stage: Stage) {
    let mut first = by("a", 0, 0, "a");
    first.stream_seq = Some("5".to_owned());
    stage.append(first).expect("appended");
    stage.pass(40_000);
    stage.append(by("b", 0, 0, "b")).expect("appended");
    stage.pass(20_000);
    // Idle for as long as the limit says, yet still known while there is room for it.
    assert!(stage.append(by("a", 0, 0, "a")).expect("a retry").duplicate);
    let mut refused = by("c", 0, 0, "c");
    refused.stream_seq = Some("5".to_owned());
    stage.append(refused).expect_err("the sequence is used");
    // A refused append has not made room for itself either.
    assert!(stage.append(by("a", 0, 0, "a")).expect("a retry").duplicate);
    stage.append(by("c", 0, 0, "c")).expect("it takes the room of the idle one");
    let full = AppendError::ProducersFull { max: 2 };
    assert_eq!(stage.append(by("a", 0, 0, "d")), Err(full), "forgotten");
    assert!(stage.append(by("b", 0, 0, "b")).expect("a retry").duplicate);
}
