//! What one message costs. Times on a shared machine are hints.
//!
//! Run with `cargo bench -p squall-wire`.

#![expect(clippy::unwrap_used, reason = "a bench that fails is no bench")]

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use squall_wire::sse::decode::{SseDecoder, SseItem};
use squall_wire::sse::encode::{self, DataWriter, Fields};

const MESSAGES: usize = 1_000;
const PAYLOAD_BYTES: usize = 100;
const FIELDS: Fields<'_> =
    Fields { id: Some("0000000000000000_0000000000012345"), retry_ms: None, event: None };

fn main() {
    divan::main();
}

fn payload() -> Vec<u8> {
    let text = br#"{"kind":"order","amount":12345,"note":"as good as any other line of text"}"#;
    text.iter().copied().cycle().take(PAYLOAD_BYTES).collect()
}

fn encode_all(wire: &mut Vec<u8>, payload: &[u8]) {
    for _ in 0..MESSAGES {
        encode::message(wire, &FIELDS, payload).unwrap();
    }
}

fn bench_encode(bencher: Bencher<'_, '_>, payload: &[u8]) {
    let mut wire = Vec::new();
    encode_all(&mut wire, payload);
    let bytes = wire.len();
    bencher.counter(ItemsCount::new(MESSAGES)).counter(BytesCount::new(bytes)).bench_local(|| {
        wire.clear();
        encode_all(&mut wire, black_box(payload));
        black_box(&wire);
    });
}

#[divan::bench]
fn encode_messages(bencher: Bencher<'_, '_>) {
    bench_encode(bencher, &payload());
}

/// Ten lines of ten bytes: the price of a line end.
#[divan::bench]
fn encode_messages_of_ten_lines(bencher: Bencher<'_, '_>) {
    bench_encode(bencher, &b"123456789\n".repeat(PAYLOAD_BYTES / 10));
}

/// One message from all payloads, as a page of a byte stream is sent.
#[divan::bench]
fn encode_one_message_of_slices(bencher: Bencher<'_, '_>) {
    let payload = payload();
    let mut wire = Vec::new();
    bencher.counter(ItemsCount::new(MESSAGES)).bench_local(|| {
        wire.clear();
        let mut writer = DataWriter::begin(&mut wire, &FIELDS).unwrap();
        for _ in 0..MESSAGES {
            writer.push(black_box(&payload));
        }
        writer.finish();
        black_box(&wire);
    });
}

/// In portions as a socket gives them: 1,460 bytes cut lines, 64 KiB hardly do.
#[divan::bench(args = [1_460, 65_536])]
fn decode_messages(bencher: Bencher<'_, '_>, portion_bytes: usize) {
    let mut wire = Vec::new();
    encode_all(&mut wire, &payload());
    let mut decoder = SseDecoder::default();
    let bytes = BytesCount::new(wire.len());
    bencher.counter(ItemsCount::new(MESSAGES)).counter(bytes).bench_local(|| {
        let mut events = 0;
        for mut portion in black_box(&wire).chunks(portion_bytes) {
            while let Some(item) = decoder.decode(&mut portion).unwrap() {
                events += usize::from(matches!(black_box(item), SseItem::Event(_)));
            }
        }
        assert_eq!(events, MESSAGES);
    });
}
