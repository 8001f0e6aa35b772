//! Limits, the cursor, and one connection after another.

use super::table::{check_limits, decode};
use crate::sse::decode::{DecodeError, DecodeLimits, SseDecoder};

/// The cursor moves with the blank line, so a message that was cut is sent again.
#[test]
fn a_message_that_was_cut_does_not_move_the_cursor() {
    for (wire, id, at_border) in [
        ("id:1\ndata:a\n\n", "1", true),
        ("id:1\ndata:a\n\nid:2\ndata:b\n", "1", false),
        ("id:1\ndata:a\n\nid:2\ndata:b", "1", false),
        ("id:1\n\n", "1", true),
        ("id:1\n\n:", "1", false),
        ("id:1\n\n:\n\n", "1", true),
        ("", "", true),
    ] {
        let mut decoder = SseDecoder::default();
        decode(&mut decoder, wire.as_bytes(), usize::MAX);
        assert_eq!(decoder.last_event_id(), id, "after {wire:?}");
        assert_eq!(decoder.is_at_border(), at_border, "after {wire:?}");
    }
}

#[test]
fn lines_are_bounded() {
    let limits = DecodeLimits { line_bytes_max: 8, event_bytes_max: 100 };
    let too_long = "error LineTooLong { line_bytes_max: 8 }";
    check_limits(limits, "data:123\r\n\n", &[r#""123""#]);
    check_limits(limits, "data:1\n\ndata:1234\n\n", &[r#""1""#, too_long]);
    check_limits(limits, "data:1\n\n:12345678", &[r#""1""#, too_long]);
    check_limits(limits, b":\xFF\xFF\n:\xFF\xFF\xFF\n", &[r#"comment "��""#, too_long]);
}

#[test]
fn events_are_bounded() {
    let limits = DecodeLimits { line_bytes_max: 100, event_bytes_max: 5 };
    let too_long = "error EventTooLong { event_bytes_max: 5 }";
    check_limits(limits, "data:12\ndata:45\n\ndata:12345\n\n", &[r#""12\n45""#, r#""12345""#]);
    check_limits(limits, "data:12\ndata:456\n\n", &[too_long]);
    check_limits(limits, "data:12345\ndata\n\n", &[too_long]);
    check_limits(limits, b"data:\xFF\n\ndata:\xFF\xFF\n\n", &[r#""�""#, too_long]);
}

#[test]
fn an_error_stays_until_the_next_connection() {
    let limits = DecodeLimits { line_bytes_max: 8, event_bytes_max: 8 };
    let mut decoder = SseDecoder::new(limits);
    let error = DecodeError::LineTooLong { line_bytes_max: 8 };
    decode(&mut decoder, b"id:1\n\ndata:12345", 4);
    assert_eq!(decoder.decode(&mut &b"\n"[..]), Err(error));
    decoder.reconnect();
    assert_eq!(decode(&mut decoder, b"data:x\n\n", 4), [r#""x" id "1" inherited"#]);
}

/// A new connection begins with a byte order mark of its own and with no half line of the old.
#[test]
fn a_new_connection_keeps_only_the_cursor() {
    let mut decoder = SseDecoder::default();
    decoder.set_last_event_id("0");
    assert_eq!(decode(&mut decoder, b"data:a\n\n", 3), [r#""a" id "0" inherited"#]);
    decode(&mut decoder, b"id:1\n\nid:2\nevent:e\ndata:b\ndat\r", 3);
    decoder.reconnect();
    assert!(decoder.is_at_border());
    let items = decode(&mut decoder, "\u{FEFF}data:c\n\n".as_bytes(), 3);
    assert_eq!(items, [r#""c" id "1" inherited"#]);
}
