//! The encoder, with the decoder as its mirror.
//!
//! `cargo fuzz run sse_round_trip --sanitizer=none`

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use squall_fuzz::{Item, Portions, decode};
use squall_wire::sse::decode::SseDecoder;
use squall_wire::sse::encode::{self, DataWriter, EncodeError, Fields};
use squall_wire::utf8;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    blocks: Vec<Block<'a>>,
    cuts: [u8; 4],
}

#[derive(Arbitrary, Debug)]
enum Block<'a> {
    Message {
        id: Option<&'a str>,
        retry_ms: Option<u64>,
        event: Option<&'a str>,
        data: &'a [u8],
    },
    IdOnly(&'a str),
    RetryOnly(u64),
    Heartbeat,
}

fuzz_target!(|input: Input<'_>| {
    let mut mirror = Mirror::default();
    for block in &input.blocks {
        mirror.send(block, &input.cuts);
    }
    let decoded = decode(SseDecoder::default(), &mirror.wire, &input.cuts);
    assert_eq!(decoded.items, mirror.items);
    assert_eq!(decoded.last_event_id, mirror.last_event_id);
    assert_eq!(decoded.end, Ok(true));
});

/// What was sent, and what a client must make of it.
#[derive(Default)]
struct Mirror {
    wire: Vec<u8>,
    items: Vec<Item>,
    last_event_id: String,
}

impl Mirror {
    fn send(&mut self, block: &Block<'_>, cuts: &[u8]) {
        match *block {
            Block::Message {
                id,
                retry_ms,
                event,
                data,
            } => {
                self.message(
                    &Fields {
                        id,
                        retry_ms,
                        event,
                    },
                    data,
                    cuts,
                );
            }
            Block::IdOnly(id) => {
                let sent = encode::id_only(&mut self.wire, id);
                assert_eq!(sent.is_err(), is_forbidden(id));
                if sent.is_ok() {
                    self.last_event_id = id.to_owned();
                }
            }
            Block::RetryOnly(retry_ms) => {
                encode::retry_only(&mut self.wire, retry_ms);
                self.items.push(Item::Retry(retry_ms));
            }
            Block::Heartbeat => {
                encode::heartbeat(&mut self.wire);
                self.items.push(Item::Comment(String::new()));
            }
        }
    }

    fn message(&mut self, fields: &Fields<'_>, data: &[u8], cuts: &[u8]) {
        let mut text = Vec::new();
        utf8::push_lossy(&mut text, data);
        let start = self.wire.len();
        let sent = encode::message(&mut self.wire, fields, &text);
        let is_bad = |value: Option<&str>| value.is_some_and(is_forbidden);
        assert_eq!(sent.is_err(), is_bad(fields.id) || is_bad(fields.event));
        if sent.is_err() {
            assert_eq!(self.wire.len(), start);
            return;
        }
        assert_eq!(
            from_slices(fields, &text, cuts).as_deref(),
            Ok(&self.wire[start..])
        );
        self.expect(
            fields,
            String::from_utf8(text).expect("push_lossy gives UTF-8"),
        );
    }

    fn expect(&mut self, fields: &Fields<'_>, text: String) {
        self.items.extend(fields.retry_ms.map(Item::Retry));
        if let Some(id) = fields.id {
            self.last_event_id = id.to_owned();
        }
        self.items.push(Item::Event {
            last_event_id: self.last_event_id.clone(),
            carries_id: fields.id.is_some(),
            event: fields
                .event
                .filter(|event| !event.is_empty())
                .unwrap_or("message")
                .to_owned(),
            data: text.replace("\r\n", "\n").replace('\r', "\n"),
        });
    }
}

fn from_slices(fields: &Fields<'_>, text: &[u8], cuts: &[u8]) -> Result<Vec<u8>, EncodeError> {
    let mut wire = Vec::new();
    let mut writer = DataWriter::begin(&mut wire, fields)?;
    Portions::new(text, cuts).for_each(|slice| writer.push(slice));
    writer.finish();
    Ok(wire)
}

fn is_forbidden(value: &str) -> bool {
    value.contains(['\0', '\r', '\n'])
}
