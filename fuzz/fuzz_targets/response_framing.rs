//! Any bytes as replies: no panic, and neither cuts nor the cache matter.
//!
//! `cargo fuzz run response_framing --sanitizer=none`

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use squall_fuzz::framing::{Framed, Part, read};
use squall_wire::http::response::{BodyFraming, RequestKind, ResponseLimits};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    /// Small, so that they are met.
    head_bytes_max: u8,
    headers_max: u8,
    chunk_line_bytes_max: u8,
    trailer_bytes_max: u8,
    kinds: [u8; 3],
    cuts: [u8; 4],
    /// Sent this often, so that the cache has something to find.
    repetitions: u8,
    wire: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let limits = ResponseLimits {
        head_bytes_max: usize::from(input.head_bytes_max) * 2,
        headers_max: usize::from(input.headers_max),
        chunk_line_bytes_max: usize::from(input.chunk_line_bytes_max),
        trailer_bytes_max: usize::from(input.trailer_bytes_max),
    };
    let kinds = input.kinds.map(|kind| match kind {
        0..=25 => RequestKind::Head,
        26..=50 => RequestKind::Connect,
        _ => RequestKind::Other,
    });
    let wire = input.wire.repeat(usize::from(input.repetitions % 4) + 1);
    let whole = read(&wire, &[], &kinds, &limits, true);
    check_order(&whole);
    check_bytes(&whole, wire.len());
    assert_eq!(whole, read(&wire, &input.cuts, &kinds, &limits, true));
    assert_eq!(whole, read(&wire, &[1], &kinds, &limits, false));
});

/// One head, then a body of the length that it says, then an end.
fn check_order(framed: &Framed) {
    let mut open = None;
    for part in &framed.parts {
        open = match (open, part) {
            (None, Part::Interim(status)) => {
                assert!((100..=199).contains(status) && *status != 101);
                None
            }
            (None, Part::Head(head)) => Some((head.framing, 0)),
            (Some((framing, 0)), Part::Body(bytes)) => {
                assert_ne!(framing, BodyFraming::Empty);
                Some((framing, u64::try_from(bytes.len()).expect("memory is 64 bits")))
            }
            (Some((framing, body_bytes)), Part::End) => {
                assert_ne!(framing, BodyFraming::UntilClose);
                if let BodyFraming::Length(length) = framing {
                    assert_eq!(length, body_bytes);
                }
                None
            }
            (open, part) => panic!("{part:?} while {open:?} is open"),
        };
    }
}

/// No more comes out than went in.
fn check_bytes(framed: &Framed, wire_len: usize) {
    let lens = framed.parts.iter().map(|part| match part {
        Part::Body(bytes) => bytes.len(),
        Part::Head(head) => usize::try_from(head.head_bytes).expect("memory is 64 bits"),
        Part::Interim(_) | Part::End => 0,
    });
    assert!(lens.sum::<usize>() <= wire_len);
}
