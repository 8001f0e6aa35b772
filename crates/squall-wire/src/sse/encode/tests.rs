//! Table tests: one `check` per shape, the rows named after who got them wrong.

use super::{DataWriter, EncodeError, Fields, HEARTBEAT, heartbeat, id_only, message, retry_only};

/// Checks the wire of a message without fields, from one slice and from every cut into two.
#[track_caller]
fn check_data(data: &str, expected: &str) {
    let mut wire = Vec::new();
    message(&mut wire, &Fields::default(), data.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(wire).unwrap(), expected, "from one slice");
    for at in 0..=data.len() {
        let (left, right) = data.as_bytes().split_at(at);
        let wire = from_slices(&[left, &[], right]);
        assert_eq!(String::from_utf8(wire).unwrap(), expected, "cut at {at}");
    }
}

fn from_slices(slices: &[&[u8]]) -> Vec<u8> {
    let mut wire = Vec::new();
    let mut writer = DataWriter::begin(&mut wire, &Fields::default()).unwrap();
    for slice in slices {
        writer.push(slice);
    }
    writer.finish();
    wire
}

#[track_caller]
fn check_fields(fields: Fields<'_>, expected: &str) {
    let mut wire = Vec::new();
    message(&mut wire, &fields, b"x").unwrap();
    assert_eq!(String::from_utf8(wire).unwrap(), expected);
}

#[track_caller]
fn check_refused(fields: Fields<'_>, expected: EncodeError) {
    let mut wire = b"kept".to_vec();
    assert_eq!(message(&mut wire, &fields, b"x"), Err(expected));
    assert_eq!(DataWriter::begin(&mut wire, &fields).err(), Some(expected));
    assert_eq!(wire, b"kept");
}

/// axum#3870: CRLF was counted twice and gave an extra line.
#[test]
fn each_line_end_splits_once() {
    check_data("a\nb", "data:a\ndata:b\n\n");
    check_data("a\rb", "data:a\ndata:b\n\n");
    check_data("a\r\nb", "data:a\ndata:b\n\n");
    check_data("a\n\rb", "data:a\ndata:\ndata:b\n\n");
    check_data("a\r\r\nb", "data:a\ndata:\ndata:b\n\n");
    check_data("a\r\n\nb", "data:a\ndata:\ndata:b\n\n");
    check_data("a\r\n\r\nb", "data:a\ndata:\ndata:b\n\n");
}

/// helidon#12465: the last line end of a payload was lost.
#[test]
fn a_final_line_end_leaves_an_empty_line() {
    check_data("a\n", "data:a\ndata:\n\n");
    check_data("a\r", "data:a\ndata:\n\n");
    check_data("a\r\n", "data:a\ndata:\n\n");
    check_data("\n", "data:\ndata:\n\n");
}

/// WPT `format-field-data`: without a data line no event fires.
#[test]
fn empty_data_is_one_empty_line() {
    check_data("", "data:\n\n");
}

/// A client strips one space, which the tokens of a language model mostly begin with.
#[test]
fn a_leading_space_is_doubled_on_its_line_only() {
    check_data(" world", "data:  world\n\n");
    check_data("  two", "data:   two\n\n");
    check_data("a b", "data:a b\n\n");
    check_data("a\n b\r\n c", "data:a\ndata:  b\ndata:  c\n\n");
    check_data(" ", "data:  \n\n");
    check_data("\ta", "data:\ta\n\n");
}

/// A payload cannot smuggle in a field, a comment or the end of the message.
#[test]
fn fields_in_data_stay_data() {
    check_data("id: 7\n\nevent: x\n: c", "data:id: 7\ndata:\ndata:event: x\ndata:: c\n\n");
}

/// WPT `format-bom`: only the first bytes of a stream are a byte order mark.
#[test]
fn a_byte_order_mark_and_nul_in_data_stay() {
    check_data("\u{FEFF}a\0", "data:\u{FEFF}a\0\n\n");
}

#[test]
fn fields_come_in_order_with_a_space() {
    check_fields(Fields::default(), "data:x\n\n");
    let control = Some("control");
    check_fields(Fields { event: control, ..Fields::default() }, "event: control\ndata:x\n\n");
    let all = Fields { id: Some("0_42"), retry_ms: Some(1500), event: control };
    check_fields(all, "id: 0_42\nretry: 1500\nevent: control\ndata:x\n\n");
    let empty = Fields { id: Some(""), retry_ms: None, event: Some("") };
    check_fields(empty, "id: \nevent: \ndata:x\n\n");
    let spaced = Fields { id: Some(" a"), retry_ms: None, event: Some(" b") };
    check_fields(spaced, "id:  a\nevent:  b\ndata:x\n\n");
}

#[test]
fn retry_is_decimal() {
    for (retry_ms, expected) in
        [(0, "retry: 0\n\n"), (10, "retry: 10\n\n"), (u64::MAX, "retry: 18446744073709551615\n\n")]
    {
        let mut wire = Vec::new();
        retry_only(&mut wire, retry_ms);
        assert_eq!(String::from_utf8(wire).unwrap(), expected);
    }
}

/// WPT `format-field-id-null`, and CR or LF that would inject a field.
#[test]
fn fields_that_cannot_be_framed_write_nothing() {
    for bad in ["\0", "\r", "\n", "a\0b", "a\ndata: forged", "a\r\n"] {
        let id = Fields { id: Some(bad), ..Fields::default() };
        check_refused(id, EncodeError::ForbiddenInId);
        let event = Fields { id: Some("1"), event: Some(bad), ..Fields::default() };
        check_refused(event, EncodeError::ForbiddenInEvent);
        let mut wire = Vec::new();
        assert_eq!(id_only(&mut wire, bad), Err(EncodeError::ForbiddenInId));
        assert!(wire.is_empty());
    }
}

#[test]
fn blocks_without_data() {
    let mut wire = Vec::new();
    heartbeat(&mut wire);
    id_only(&mut wire, "0_42").unwrap();
    assert_eq!(wire, b":\n\nid: 0_42\n\n");
    assert_eq!(HEARTBEAT, b":\n\n");
}

#[test]
fn a_writer_that_is_dropped_takes_its_message_back() {
    let mut wire = b"kept".to_vec();
    let fields = Fields { id: Some("1"), ..Fields::default() };
    let mut writer = DataWriter::begin(&mut wire, &fields).unwrap();
    writer.push(b"half");
    drop(writer);
    assert_eq!(wire, b"kept");
}
