//! Which rule speaks first where several refuse an append.

use bytes::Bytes;
use squall_stream::limits::{POSITION_MAX, StreamLimits};
use squall_stream::machine::{AppendDecision, Closing, StreamState, decide_append};
use squall_stream::producer::{ProducerClaim, ProducerId, ProducerPosition, ProducerState};
use squall_stream::request::{Append, AppendAck, AppendError};
use squall_stream::store::StreamId;
use squall_stream::{ContentType, Expiry, Offset, StreamName, UnixMillis};

const NOW: UnixMillis = UnixMillis(1_000);

fn claim(epoch: u64, seq: u64) -> ProducerClaim {
    ProducerClaim {
        id: ProducerId::parse("p").expect("an id"),
        position: ProducerPosition { epoch, seq },
    }
}

/// An open stream of ten bytes, `Stream-Seq` "m", and producer `p` at epoch 2, sequence 4.
struct Scene {
    state: StreamState,
    known: Option<ProducerState>,
    append: Append,
    limits: StreamLimits,
}

fn scene() -> Scene {
    let text = ContentType::text_plain();
    let mut state = StreamState::new(StreamId(7), text.clone(), Expiry::Ttl(5), UnixMillis(0));
    (state.tail, state.events, state.producers) = (10, 2, 1);
    state.stream_seq = Some("m".to_owned());
    let position = ProducerPosition { epoch: 2, seq: 4 };
    Scene {
        state,
        known: Some(ProducerState { last: position, used_at: UnixMillis(0) }),
        append: Append::new(
            StreamName::parse("s").expect("a name"),
            text,
            vec![Bytes::from("abc")],
        ),
        limits: StreamLimits::default(),
    }
}

/// Everything that can be wrong with an append to an open stream.
fn wrong_in_every_way() -> Scene {
    let mut scene = scene();
    scene.append.content_type = Some(ContentType::octet_stream());
    scene.append.producer = Some(claim(2, 9));
    scene.append.stream_seq = Some("a".to_owned());
    scene
}

fn decide(scene: &Scene) -> Result<AppendDecision, AppendError> {
    let Scene { state, known, append, limits } = scene;
    let before = (state.clone(), *known);
    let decision = decide_append(Some(state), known.as_ref(), append, NOW, limits);
    assert_eq!((state.clone(), *known), before, "a decision changes nothing");
    decision
}

fn refused(scene: &Scene, expected: &AppendError) {
    assert_eq!(decide(scene).as_ref(), Err(expected));
}

fn stands(scene: &Scene) -> AppendAck {
    match decide(scene) {
        Ok(AppendDecision::Stands(ack)) => ack,
        other => panic!("expected a duplicate, found {other:?}"),
    }
}

/// Each rule is taken away in turn, and the next one speaks.
#[test]
fn closed_then_content_type_then_producer_then_stream_seq() {
    let mut scene = wrong_in_every_way();
    scene.state.closing = Some(Closing::default());
    let tail = Offset::at(10);
    refused(&scene, &AppendError::Closed { tail });

    scene.state.closing = None;
    let expected = ContentType::text_plain();
    refused(&scene, &AppendError::ContentTypeMismatch { expected });

    scene.append.content_type = Some(ContentType::text_plain());
    let gap = AppendError::ProducerGap { expected: 5, received: 9 };
    refused(&scene, &gap);

    scene.append.producer = Some(claim(2, 5));
    let last = "m".to_owned();
    refused(&scene, &AppendError::SequenceNotGreater { last });

    scene.append.stream_seq = Some("n".to_owned());
    assert!(matches!(decide(&scene), Ok(AppendDecision::Store(_))));
}

#[test]
fn no_stream_and_an_expired_one_come_before_everything() {
    let mut scene = wrong_in_every_way();
    scene.state.closing = Some(Closing::default());
    let Scene { known, append, limits, .. } = &scene;
    let absent = decide_append(None, known.as_ref(), append, NOW, limits);
    assert_eq!(absent, Err(AppendError::NotFound));
    scene.state.expiry = Expiry::At(NOW);
    refused(&scene, &AppendError::NotFound);
}

#[test]
fn a_retry_is_a_duplicate_whatever_its_stream_seq() {
    let mut scene = scene();
    scene.append.producer = Some(claim(2, 3));
    scene.append.stream_seq = Some("a".to_owned());
    let ack = stands(&scene);
    assert_eq!((ack.tail, ack.closed, ack.duplicate), (Offset::at(10), false, true));
    assert_eq!(ack.producer, Some(ProducerPosition { epoch: 2, seq: 4 }));
}

#[test]
fn a_full_stream_takes_known_producers_and_judges_unknown_ones_first() {
    let mut scene = scene();
    scene.limits.producers_max = 1;
    scene.append.producer = Some(claim(2, 5));
    assert!(matches!(decide(&scene), Ok(AppendDecision::Store(_))));
    scene.known = None;
    let gap = AppendError::ProducerGap { expected: 0, received: 5 };
    refused(&scene, &gap);
    scene.append.producer = Some(claim(2, 0));
    refused(&scene, &AppendError::ProducersFull { max: 1 });
}

/// A retry of the close is a duplicate only by its exact position, whatever its body.
#[test]
fn the_closing_request_alone_is_a_duplicate() {
    let mut scene = scene();
    let by = Some(claim(2, 4));
    scene.state.closing = Some(Closing { by });
    scene.append.producer = Some(claim(2, 4));
    scene.append.close = true;
    scene.append.events = vec![Bytes::from("another body")];
    scene.append.content_type = Some(ContentType::octet_stream());
    let ack = stands(&scene);
    assert_eq!((ack.tail, ack.closed, ack.duplicate), (Offset::at(10), true, true));
    assert_eq!(ack.producer, Some(ProducerPosition { epoch: 2, seq: 4 }));

    let tail = Offset::at(10);
    for (epoch, seq) in [(2, 3), (2, 5), (1, 4), (3, 0)] {
        scene.append.producer = Some(claim(epoch, seq));
        refused(&scene, &AppendError::Closed { tail });
    }
    scene.append.producer = Some(claim(2, 4));
    scene.append.close = false;
    refused(&scene, &AppendError::Closed { tail });
}

#[test]
fn a_mere_close_is_repeated_by_anyone_without_a_producer() {
    let mut scene = scene();
    let by = Some(claim(2, 4));
    scene.state.closing = Some(Closing { by });
    scene.append.close = true;
    let tail = Offset::at(10);
    refused(&scene, &AppendError::Closed { tail });
    scene.append.events.clear();
    assert!(stands(&scene).closed);
}

#[test]
fn a_close_of_a_producer_uses_up_a_sequence_number() {
    let mut scene = scene();
    scene.append.events.clear();
    scene.append.content_type = Some(ContentType::octet_stream());
    scene.append.close = true;
    scene.append.producer = Some(claim(2, 6));
    let gap = AppendError::ProducerGap { expected: 5, received: 6 };
    refused(&scene, &gap);
    scene.append.producer = Some(claim(2, 5));
    let Ok(AppendDecision::Store(plan)) = decide(&scene) else {
        panic!("a close ignores the content type");
    };
    let by = Some(claim(2, 5));
    assert_eq!(plan.closing, Some(Closing { by }));
    let last = plan.producer.map(|producer| producer.last);
    assert_eq!(last, Some(ProducerPosition { epoch: 2, seq: 5 }));
    assert_eq!((plan.tail, plan.events.len()), (10, 0));
    assert!(plan.ack.closed && !plan.ack.duplicate);
}

#[test]
fn the_last_offset_is_never_passed() {
    let mut scene = scene();
    scene.state.tail = POSITION_MAX - 3;
    let Ok(AppendDecision::Store(plan)) = decide(&scene) else {
        panic!("three bytes fit");
    };
    assert_eq!(plan.tail, POSITION_MAX);
    scene.state.tail = POSITION_MAX - 2;
    refused(&scene, &AppendError::OffsetsExhausted);
}
