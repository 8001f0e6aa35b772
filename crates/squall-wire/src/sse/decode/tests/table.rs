//! One line of text for each item, so that a table of them reads as what a browser would fire.

use crate::sse::decode::{DecodeLimits, SseDecoder, SseItem};

/// Decodes `wire` in portions of `portion_len`.
pub(super) fn decode(decoder: &mut SseDecoder, wire: &[u8], portion_len: usize) -> Vec<String> {
    let mut items = Vec::new();
    for portion in wire.chunks(portion_len) {
        let mut input = portion;
        loop {
            match decoder.decode(&mut input) {
                Ok(Some(item)) => items.push(describe(item)),
                Ok(None) => break,
                Err(error) => {
                    items.push(format!("error {error:?}"));
                    return items;
                }
            }
        }
    }
    items
}

/// An event is its data alone; name and id are shown if they are not the default.
fn describe(item: SseItem<'_>) -> String {
    match item {
        SseItem::Comment(text) => format!("comment {text:?}"),
        SseItem::Retry(retry_ms) => format!("retry {retry_ms}"),
        SseItem::Event(event) => {
            let name = Some(event.event).filter(|name| *name != "message");
            let name = name.map_or(String::new(), |name| format!(" event {name:?}"));
            let id = event.last_event_id;
            let id = if id.is_empty() { String::new() } else { format!(" id {id:?}") };
            let inherited = if event.carries_id || id.is_empty() { "" } else { " inherited" };
            format!("{:?}{name}{id}{inherited}", event.data)
        }
    }
}

#[track_caller]
pub(super) fn check(wire: impl AsRef<[u8]>, expected: &[&str]) {
    check_limits(DecodeLimits::default(), wire, expected);
}

#[track_caller]
pub(super) fn check_limits(limits: DecodeLimits, wire: impl AsRef<[u8]>, expected: &[&str]) {
    for portion_len in [usize::MAX, 1, 2, 3, 5] {
        let items = decode(&mut SseDecoder::new(limits), wire.as_ref(), portion_len);
        assert_eq!(items, expected, "in portions of {portion_len} bytes");
    }
}
