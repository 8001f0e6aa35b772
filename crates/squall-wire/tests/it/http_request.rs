//! Templates and stamps: what is written comes back.

use proptest::prelude::*;
use squall_wire::http::request::{FieldValues, HttpVersion, RequestParts, RequestTemplate};
use squall_wire::stamp::{STAMP_BYTES_MIN, Stamp};

fn post(body: &[u8]) -> RequestTemplate {
    RequestTemplate::build(&RequestParts {
        method: "POST",
        target: "/{{seq}}/{{random:000..500}}",
        host: "127.0.0.1",
        version: HttpVersion::V11,
        headers: &[("X-At".to_owned(), "{{now_ns}}".to_owned())],
        body,
        keep_alive: true,
        has_fields: true,
        has_body_fields: true,
    })
    .unwrap()
}

/// The target, the value of `X-At` and the body of a request, as a server reads them.
fn parse(request: &[u8]) -> (String, String, Vec<u8>) {
    let mut headers = [httparse::EMPTY_HEADER; 8];
    let mut head = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(len) = head.parse(request).unwrap() else {
        panic!("the head is cut");
    };
    let value = |name: &str| {
        let header = head.headers.iter().find(|header| header.name == name).unwrap();
        String::from_utf8(header.value.to_vec()).unwrap()
    };
    let body = request[len..].to_vec();
    assert_eq!(value("Content-Length"), body.len().to_string());
    (head.path.unwrap().to_owned(), value("X-At"), body)
}

proptest! {
    /// Every field of every sending parses back to its value, and all sendings have one length.
    #[test]
    fn fields_come_back_as_their_values(
        sequence in 0..1_000_000_000_000_u64,
        time_ns: u64,
        publisher: u64,
        publisher_sequence in 0..1_000_000_000_000_u64,
        random: u64,
        stamp_bytes in STAMP_BYTES_MIN..200,
    ) {
        let template = post(format!("{{\"a\":\"{{{{stamp:{stamp_bytes}}}}}\"}}").as_bytes());
        let mut out = Vec::new();
        let mut draw = || random;
        let mut values =
            FieldValues { sequence, time_ns, publisher, publisher_sequence, random: &mut draw };
        template.write(&mut out, &mut values);
        prop_assert_eq!(out.len(), template.len());
        let (target, at, body) = parse(&out);
        let (first, second) = target[1..].split_once('/').unwrap();
        prop_assert_eq!(first.parse(), Ok(sequence));
        prop_assert!(second.len() == 3 && second.parse::<u64>().unwrap() <= 500);
        prop_assert_eq!(at.parse(), Ok(time_ns));
        prop_assert_eq!(body.len(), stamp_bytes + 8);
        let stamp = Stamp { publisher, sequence: publisher_sequence, time_ns };
        prop_assert_eq!(Stamp::find(&body), Some(stamp));
    }

    /// Text without fields is sent as it is, whatever its braces.
    #[test]
    fn text_stays_text(body in "[{}a:.0-9]{0,40}") {
        let template = post(body.as_bytes());
        prop_assert_eq!(parse(template.bytes()).2, body.into_bytes());
    }

    /// A stamp is found whatever stands before and behind it, unless that begins one itself
    /// or goes on with its digits.
    #[test]
    fn a_stamp_is_found_in_any_surroundings(
        before: Vec<u8>,
        behind: Vec<u8>,
        publisher: u64,
        sequence in 0..1_000_000_000_000_u64,
        time_ns: u64,
    ) {
        prop_assume!(!behind.first().is_some_and(u8::is_ascii_digit));
        let stamp = Stamp { publisher, sequence, time_ns };
        let mut text = [0; STAMP_BYTES_MIN];
        stamp.write(&mut text);
        prop_assert_eq!(Stamp::find(&[&before, &text[..], &behind].concat()), Some(stamp));
    }
}
