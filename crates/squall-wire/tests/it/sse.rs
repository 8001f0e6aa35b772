//! The encoder and the decoder as each other's mirror.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use squall_wire::sse::decode::{SseDecoder, SseItem};
use squall_wire::sse::encode::{self, DataWriter, Fields};

/// What the encoder can be asked for, and what the decoder gives back.
#[derive(Clone, Debug, PartialEq)]
enum Block {
    Message { id: Option<String>, retry_ms: Option<u64>, event: Option<String>, data: String },
    IdOnly(String),
    RetryOnly(u64),
    Heartbeat,
}

/// An item, with nothing borrowed.
#[derive(Clone, Debug, PartialEq)]
enum Item {
    Event { last_event_id: String, carries_id: bool, event: String, data: String },
    Comment(String),
    Retry(u64),
}

impl From<SseItem<'_>> for Item {
    fn from(item: SseItem<'_>) -> Self {
        match item {
            SseItem::Event(event) => Self::Event {
                last_event_id: event.last_event_id.to_owned(),
                carries_id: event.carries_id,
                event: event.event.to_owned(),
                data: event.data.to_owned(),
            },
            SseItem::Comment(text) => Self::Comment(text.to_owned()),
            SseItem::Retry(retry_ms) => Self::Retry(retry_ms),
            other => panic!("unknown item {other:?}"),
        }
    }
}

fn encode(blocks: &[Block]) -> Vec<u8> {
    let mut wire = Vec::new();
    for block in blocks {
        match block {
            Block::Message { id, retry_ms, event, data } => {
                let (id, event) = (id.as_deref(), event.as_deref());
                let fields = Fields { id, retry_ms: *retry_ms, event };
                encode::message(&mut wire, &fields, data.as_bytes()).unwrap();
            }
            Block::IdOnly(id) => encode::id_only(&mut wire, id).unwrap(),
            Block::RetryOnly(retry_ms) => encode::retry_only(&mut wire, *retry_ms),
            Block::Heartbeat => encode::heartbeat(&mut wire),
        }
    }
    wire
}

/// The items that a browser sees, by what was asked for rather than by the bytes.
fn expected_items(blocks: &[Block]) -> (Vec<Item>, String) {
    let mut cursor = String::new();
    let mut items = Vec::new();
    for block in blocks {
        match block {
            Block::Message { id, retry_ms, event, data } => {
                items.extend(retry_ms.map(Item::Retry));
                cursor = id.clone().unwrap_or(cursor);
                let event = event.clone().filter(|event| !event.is_empty());
                items.push(Item::Event {
                    last_event_id: cursor.clone(),
                    carries_id: id.is_some(),
                    event: event.unwrap_or_else(|| "message".to_owned()),
                    data: data.replace("\r\n", "\n").replace('\r', "\n"),
                });
            }
            Block::IdOnly(id) => cursor.clone_from(id),
            Block::RetryOnly(retry_ms) => items.push(Item::Retry(*retry_ms)),
            Block::Heartbeat => items.push(Item::Comment(String::new())),
        }
    }
    (items, cursor)
}

/// Decodes `wire` in portions of the lengths in `portion_lens`, over and over.
fn decode(wire: &[u8], portion_lens: &[usize]) -> (Vec<Item>, String) {
    let mut decoder = SseDecoder::default();
    let mut items = Vec::new();
    let mut rest = wire;
    let mut lens = portion_lens.iter().cycle();
    while !rest.is_empty() {
        let len = lens.next().map_or(rest.len(), |len| rest.len().min(*len));
        let (mut portion, behind) = rest.split_at(len);
        rest = behind;
        while let Some(item) = decoder.decode(&mut portion).unwrap() {
            items.push(Item::from(item));
        }
    }
    (items, decoder.last_event_id().to_owned())
}

/// Text with many line ends, spaces, colons and long characters.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => Just("\n".to_owned()),
        3 => Just("\r".to_owned()),
        3 => Just("\r\n".to_owned()),
        3 => Just(" ".to_owned()),
        1 => Just(":".to_owned()),
        1 => Just("data: id: x".to_owned()),
        1 => Just("\u{FEFF}".to_owned()),
        1 => Just("\0".to_owned()),
        4 => any::<char>().prop_map(String::from),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn any_value() -> impl Strategy<Value = String> {
    any_text().prop_map(|text| text.replace(['\0', '\r', '\n'], ""))
}

fn any_block() -> impl Strategy<Value = Block> {
    let message = (option::of(any_value()), option::of(any::<u64>()), option::of(any_value()));
    let message = (message, any_text()).prop_map(|((id, retry_ms, event), data)| Block::Message {
        id,
        retry_ms,
        event,
        data,
    });
    prop_oneof![
        6 => message,
        1 => any_value().prop_map(Block::IdOnly),
        1 => any::<u64>().prop_map(Block::RetryOnly),
        1 => Just(Block::Heartbeat),
    ]
}

/// Bytes that are nearly a stream.
fn any_wire() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"data".to_vec()),
        Just(b"id".to_vec()),
        Just(b"event".to_vec()),
        Just(b"retry:1".to_vec()),
        Just(b":".to_vec()),
        Just(b": ".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just(b"\xEF\xBB\xBF".to_vec()),
        vec(any::<u8>(), 0..4),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// TCP may cut the bytes anywhere; the items must come out the same.
    #[test]
    fn decoding_ignores_portion_borders(wire in any_wire(), lens in vec(1..9_usize, 1..9)) {
        prop_assert_eq!(decode(&wire, &lens), decode(&wire, &[]));
    }

    /// What was encoded comes back: every line, and no field that was not asked for.
    #[test]
    fn what_is_encoded_comes_back(blocks in vec(any_block(), 0..8), lens in vec(1..99_usize, 0..9)) {
        let wire = encode(&blocks);
        prop_assert_eq!(decode(&wire, &lens), expected_items(&blocks));
    }

    /// Data from slices is data from their concatenation, wherever the cuts are.
    #[test]
    fn slices_are_as_good_as_joined(data in any_text(), lens in vec(0..5_usize, 0..20)) {
        let fields = Fields { id: Some("0_1"), ..Fields::default() };
        let mut joined = Vec::new();
        encode::message(&mut joined, &fields, data.as_bytes()).unwrap();
        let mut sliced = Vec::new();
        let mut writer = DataWriter::begin(&mut sliced, &fields).unwrap();
        let mut rest = data.as_bytes();
        for len in lens {
            let (slice, behind) = rest.split_at(len.min(rest.len()));
            writer.push(slice);
            rest = behind;
        }
        writer.push(rest);
        writer.finish();
        prop_assert_eq!(sliced, joined);
    }
}
