//! The format, case by case; named after those of web-platform-tests `eventsource/`.

use super::table::check;

/// WPT `format-bom`, `format-bom-2`: one mark is stripped, the second spoils its field.
#[test]
fn one_byte_order_mark_is_stripped() {
    check("\u{FEFF}data:1\n\n\u{FEFF}data:2\n\ndata:3\n\n", &[r#""1""#, r#""3""#]);
    check("\u{FEFF}\u{FEFF}data:1\n\ndata:2\n\ndata:3\n\n", &[r#""2""#, r#""3""#]);
    check("\n\u{FEFF}data:1\n\ndata:2\n\n", &[r#""2""#]);
    check("data:\u{FEFF}1\n\n", &[r#""\u{feff}1""#]);
}

/// WPT `format-newlines`: each of CR, LF and CRLF ends a line once.
#[test]
fn every_line_end_ends_one_line() {
    check("data:test\r\ndata\ndata:test\r\n\r\n", &[r#""test\n\ntest""#]);
    check("data:1\r\rdata:2\n\ndata:3\r\n\r\n", &[r#""1""#, r#""2""#, r#""3""#]);
    check("data:1\r\n\ndata:2\r\r\n", &[r#""1""#, r#""2""#]);
    check("data:1\n\rdata:2\r\n\r", &[r#""1""#, r#""2""#]);
}

/// WPT `format-comments`.
#[test]
fn comments_are_told_and_break_nothing() {
    let long = "x".repeat(2048);
    let wire = format!("data:1\r:\0\n:\r\ndata:2\n:{long}\rdata:3\n:data:fail\r\ndata:4\n\n");
    let long = format!("comment {long:?}");
    let expected =
        [r#"comment "\0""#, r#"comment """#, &long, r#"comment "data:fail""#, r#""1\n2\n3\n4""#];
    check(wire, &expected);
    check(": spaces stay \n", &[r#"comment " spaces stay ""#]);
}

/// WPT `format-data-before-final-empty-line`.
#[test]
fn a_message_without_its_blank_line_is_discarded() {
    check("retry:1000\ndata:test1\n\nid:test\ndata:test2", &["retry 1000", r#""test1""#]);
    check("retry:1000\ndata:test1\n\nid:test\ndata:test2\n", &["retry 1000", r#""test1""#]);
}

/// WPT `format-field-data`: a data line without value fires, no data line does not.
#[test]
fn empty_data_fires_and_no_data_does_not() {
    check("data:\n\ndata\ndata\n\ndata:test\n\n", &[r#""""#, r#""\n""#, r#""test""#]);
    check("event:x\n\nid:1\n\n\n\ndata:a\n\n", &[r#""a" id "1" inherited"#]);
}

/// WPT `format-field-event`, `format-field-event-empty`; the last name counts, for one message.
#[test]
fn a_name_holds_for_one_message() {
    check("event:test\ndata:x\n\ndata:x\n\n", &[r#""x" event "test""#, r#""x""#]);
    check("event:\ndata:x\n\nevent\ndata:y\n\n", &[r#""x""#, r#""y""#]);
    check("event:a\nevent:b\ndata:x\n\n", &[r#""x" event "b""#]);
    check("event:a\n\ndata:x\n\n", &[r#""x""#]);
}

/// WPT `format-field-id`, `format-field-id-2`: an id holds until the next one.
#[test]
fn an_id_persists() {
    check(
        "id:1\ndata:a\n\ndata:b\n\nid\ndata:c\n\nid:4\nid:5\ndata:d\n\n",
        &[r#""a" id "1""#, r#""b" id "1" inherited"#, r#""c""#, r#""d" id "5""#],
    );
    check("data:a\nid: … \n\n", &[r#""a" id "… ""#]);
}

/// WPT `format-field-id-3`: the empty id resets the cursor.
#[test]
fn an_empty_id_resets_the_cursor() {
    check("id:1\ndata:a\n\nid:\ndata:b\n\ndata:c\n\n", &[r#""a" id "1""#, r#""b""#, r#""c""#]);
}

/// WPT `format-field-id-null`: an id with NUL changes nothing, wherever the NUL is.
#[test]
fn an_id_with_nul_is_ignored() {
    for id in ["\0", "\0x", "x\0", "x\0x", " \0"] {
        let wire = format!("id:1\ndata:a\n\nid:{id}\ndata:b\n\n");
        check(wire, &[r#""a" id "1""#, r#""b" id "1" inherited"#]);
    }
}

/// WPT `format-field-parsing`, `format-field-unknown`, `format-null-character`.
#[test]
fn only_exact_names_are_fields() {
    check(
        "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n \
         data:32\ndata:4\n\n",
        &[r#""\0\n 2\n1\n3\n\n4""#],
    );
    check(
        "data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\ndata:test\n\n",
        &[r#"comment "thisisacommentyay""#, r#""test\n\ntest""#],
    );
    check("data:\0\n\n\n\n", &[r#""\0""#]);
}

/// WPT `format-leading-space`: one space is stripped, a tab is not.
#[test]
fn one_leading_space_is_stripped() {
    check("data:\ttest\rdata: \ndata:test\n\n", &[r#""\ttest\n\ntest""#]);
    check("data:  two\n\n", &[r#"" two""#]);
    check("data: a: b\n\n", &[r#""a: b""#]);
}

/// WPT `format-field-retry`, `format-field-retry-bogus`, `format-field-retry-empty`.
#[test]
fn retry_is_digits_only() {
    check("retry:03000\ndata:x\n\n", &["retry 3000", r#""x""#]);
    check("retry: 3000\n", &["retry 3000"]);
    check("retry:3000\nretry:1000x\ndata:x\n\n", &["retry 3000", r#""x""#]);
    check("retry\nretry:\nretry:-1\nretry:+1\nretry:1.5\nretry:  1\nretry:1 \nretry:٣\n", &[]);
    check("retry:99999999999999999999999\n", &["retry 18446744073709551615"]);
}

/// WPT `format-utf-8`: a character survives any cut, and what is broken becomes U+FFFD.
#[test]
fn text_is_utf_8() {
    check("data:ok…€😀\n\n", &[r#""ok…€😀""#]);
    check(b"data:a\xFFb\xC3\n\n", &[r#""a�b�""#]);
    check(b"data:\xF0\x9F\x98\ndata:\x80\n\n", &[r#""�\n�""#]);
    check(
        b"id:\xFF\nevent:\xC3(\ndata:x\n\n:\xFF\n",
        &[r#""x" event "�(" id "�""#, r#"comment "�""#],
    );
    check(b"dat\xFFa:x\ndata:y\n\n", &[r#""y""#]);
}
