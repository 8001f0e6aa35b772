//! What framing one reply and writing one request cost. Times on a shared machine are hints.
//!
//! Run with `cargo bench -p squall-wire --bench http`.

#![expect(clippy::unwrap_used, reason = "a bench that fails is no bench")]

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use squall_wire::http::request::{FieldValues, HttpVersion, RequestParts, RequestTemplate};
use squall_wire::http::response::{
    HeadCache, RequestKind, ResponseLimits, ResponsePart, ResponseReader,
};
use squall_wire::stamp::Stamp;

/// Replies in one portion, as a deep pipeline gives them.
const REPLIES: usize = 100;

fn main() {
    divan::main();
}

fn reply(number: usize) -> String {
    let date = format!("Sun, 06 Nov 1994 08:49:{:02} GMT", number % 60);
    format!(
        "HTTP/1.1 200 OK\r\nServer: something/1.2.3\r\nDate: {date}\r\n\
         Content-Type: text/plain; charset=utf-8\r\nContent-Length: 13\r\n\r\nHello, World!"
    )
}

fn bench_read(bencher: Bencher<'_, '_>, wire: &str, portion_bytes: usize) {
    let (mut reader, mut cache) = (ResponseReader::new(), HeadCache::new());
    let limits = ResponseLimits::default();
    let bytes = BytesCount::new(wire.len());
    bencher.counter(ItemsCount::new(REPLIES)).counter(bytes).bench_local(|| {
        let mut replies = 0;
        for mut portion in black_box(wire).as_bytes().chunks(portion_bytes) {
            while let Some(part) =
                reader.read(&mut portion, RequestKind::Other, &mut cache, &limits).unwrap()
            {
                replies += usize::from(matches!(black_box(part), ResponsePart::End));
            }
        }
        assert_eq!(replies, REPLIES);
    });
}

/// Heads that differ in their dates: none is parsed again.
#[divan::bench]
fn read_equal_replies(bencher: Bencher<'_, '_>) {
    let wire: String = (0..REPLIES).map(reply).collect();
    bench_read(bencher, &wire, usize::MAX);
}

/// Heads that differ elsewhere: each is parsed.
#[divan::bench]
fn read_differing_replies(bencher: Bencher<'_, '_>) {
    let tagged = |number| reply(number).replacen("\r\n", &format!("\r\nETag: {number:03}\r\n"), 1);
    let wire: String = (0..REPLIES).map(tagged).collect();
    bench_read(bencher, &wire, usize::MAX);
}

/// Cut as a socket gives them.
#[divan::bench]
fn read_equal_replies_cut(bencher: Bencher<'_, '_>) {
    let wire: String = (0..REPLIES).map(reply).collect();
    bench_read(bencher, &wire, 1_460);
}

/// Chunks of 16 bytes: the price of a size line.
#[divan::bench]
fn read_chunks(bencher: Bencher<'_, '_>) {
    let chunks = "10\r\n0123456789abcdef\r\n".repeat(10);
    let wire = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n");
    bench_read(bencher, &wire.repeat(REPLIES), usize::MAX);
}

fn bench_write(bencher: Bencher<'_, '_>, target: &str, body: &[u8]) {
    let template = RequestTemplate::build(&RequestParts {
        method: "POST",
        target,
        host: "127.0.0.1:8080",
        version: HttpVersion::V11,
        headers: &[],
        body,
        keep_alive: true,
        has_fields: true,
        has_body_fields: true,
    })
    .unwrap();
    let mut out = Vec::new();
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| {
        out.clear();
        let mut values = FieldValues {
            sequence: black_box(123_456),
            time_ns: black_box(1_234_567_890_123),
            publisher: 7,
            publisher_sequence: 89,
            random: &mut || black_box(1 << 63),
        };
        template.write(&mut out, &mut values);
        black_box(&out);
    });
}

#[divan::bench]
fn write_static_request(bencher: Bencher<'_, '_>) {
    bench_write(bencher, "/", b"hello");
}

#[divan::bench]
fn write_request_with_fields(bencher: Bencher<'_, '_>) {
    bench_write(bencher, "/{{seq}}", b"{{random:1..1000}} {{stamp:100}}");
}

#[divan::bench(args = [100, 1_000])]
fn find_stamp(bencher: Bencher<'_, '_>, payload_bytes: usize) {
    let mut payload = vec![b'.'; payload_bytes];
    Stamp { publisher: 1, sequence: 2, time_ns: 3 }.write(&mut payload[20..]);
    bencher.bench_local(|| Stamp::find(black_box(&payload)).unwrap());
}
