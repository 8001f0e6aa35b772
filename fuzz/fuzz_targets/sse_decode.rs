//! Any bytes: no panic, nothing beyond the limits, and cuts that do not matter.
//!
//! `cargo fuzz run sse_decode --sanitizer=none`

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use squall_fuzz::{Item, decode};
use squall_wire::sse::decode::{DecodeLimits, SseDecoder};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    /// Small, so that they are met.
    line_bytes_max: u8,
    event_bytes_max: u8,
    cuts: [u8; 4],
    wire: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let limits = DecodeLimits {
        line_bytes_max: usize::from(input.line_bytes_max),
        event_bytes_max: usize::from(input.event_bytes_max),
    };
    let whole = decode(SseDecoder::new(limits), input.wire, &[]);
    for item in &whole.items {
        check_bounded(item, limits);
    }
    assert!(whole.last_event_id.len() <= limits.line_bytes_max);
    assert_eq!(
        whole,
        decode(SseDecoder::new(limits), input.wire, &input.cuts)
    );
});

fn check_bounded(item: &Item, limits: DecodeLimits) {
    match item {
        Item::Event {
            last_event_id,
            event,
            data,
            ..
        } => {
            assert!(last_event_id.len() <= limits.line_bytes_max);
            assert!(event == "message" || event.len() <= limits.line_bytes_max);
            assert!(data.len() <= limits.event_bytes_max);
            for text in [last_event_id, event, data] {
                assert!(!text.contains('\r'));
            }
        }
        Item::Comment(text) => assert!(text.len() <= limits.line_bytes_max),
        Item::Retry(_) => {}
    }
}
