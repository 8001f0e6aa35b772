//! Frames: stored events as the Server-Sent Events of one of two dialects.
//!
//! A frame is built once and shared by all followers that stand at the same offset.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use squall_stream::{ContentKind, Event, Offset, json};
use squall_wire::sse::encode::{self, DataWriter, Fields};
use squall_wire::utf8;

/// How a follow shows events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dialect {
    /// `live=events`: one unnamed message per event, for a plain EventSource.
    Events,
    /// `live=sse`: a `data` message for all new events, and a `control` message behind it.
    Sse,
}

/// What decides how an event looks to a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct View {
    pub(crate) dialect: Dialect,
    pub(crate) kind: ContentKind,
    pub(crate) cursor: Cursor,
}

/// The cursor that control messages carry: a count of 20 s intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cursor(pub(crate) u64);

/// Where a frame stands in its stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Border {
    /// Nothing more is stored behind the events of the frame.
    pub(crate) up_to_date: bool,
    /// Nothing can ever follow them.
    pub(crate) ends_stream: bool,
}

/// Appends `events` to `out` as `view` shows them; returns the offset behind what was shown.
///
/// The last bytes of a text that cut a character wait for the rest of it: the returned
/// offset lies before them, and nothing is appended if nothing else is left. At the end
/// of a stream nothing can follow, so there they go out as U+FFFD.
pub(crate) fn frame(out: &mut Vec<u8>, view: View, events: &[Event], border: Border) -> Offset {
    match view.dialect {
        Dialect::Events => frame_events(out, view.kind, events, border),
        Dialect::Sse => frame_sse(out, view, events, border),
    }
}

/// Appends what ends a stream on `live=events`: a message that only a listener for
/// `closed` sees, whose id a reconnecting client is known by.
pub(crate) fn closed_message(out: &mut Vec<u8>, at: Offset) {
    let id = at.to_string();
    let data = format!(r#"{{"offset":"{id}"}}"#);
    push_message(out, Some(&id), Some("closed"), |writer| writer.push(data.as_bytes()));
}

/// Appends what tells a client of `live=events` that events before `earliest` are gone.
pub(crate) fn gap_message(out: &mut Vec<u8>, requested: &str, earliest: Offset) {
    let requested = serde_json::Value::from(requested);
    let data = format!(r#"{{"requested":{requested},"earliest":"{earliest}"}}"#);
    push_message(out, Some(&earliest.to_string()), Some("gap"), |writer| {
        writer.push(data.as_bytes());
    });
}

/// Appends a control message of `live=sse`.
pub(crate) fn control_message(out: &mut Vec<u8>, at: Offset, cursor: Cursor, border: Border) {
    let id = at.to_string();
    let mut data = Vec::with_capacity(128);
    // Writing to a vector cannot fail.
    let written = if border.ends_stream {
        write!(data, r#"{{"streamNextOffset":"{id}","streamClosed":true}}"#)
    } else {
        let up_to_date = if border.up_to_date { r#","upToDate":true"# } else { "" };
        write!(data, r#"{{"streamNextOffset":"{id}","streamCursor":"{}"{up_to_date}}}"#, cursor.0)
    };
    debug_assert!(written.is_ok());
    push_message(out, Some(&id), Some("control"), |writer| writer.push(&data));
}

fn frame_sse(out: &mut Vec<u8>, view: View, events: &[Event], border: Border) -> Offset {
    let Some(last) = events.last() else {
        return Offset::START;
    };
    let mut next = last.end;
    match view.kind {
        ContentKind::Json => push_message(out, Some(&next.to_string()), Some("data"), |writer| {
            json::array(events.iter().map(|event| &event.payload), |bytes| writer.push(bytes));
        }),
        ContentKind::Binary => {
            let joined = join(events);
            push_message(out, Some(&next.to_string()), Some("data"), |writer| {
                writer.push(BASE64.encode(joined).as_bytes());
            });
        }
        ContentKind::Text => {
            let text = WholeText::of(events, border.ends_stream);
            next = text.next;
            if text.is_empty() {
                return next;
            }
            push_message(out, Some(&next.to_string()), Some("data"), |writer| text.push(writer));
        }
    }
    control_message(out, next, view.cursor, border);
    next
}

fn frame_events(out: &mut Vec<u8>, kind: ContentKind, events: &[Event], border: Border) -> Offset {
    let next = match kind {
        ContentKind::Text => frame_text_events(out, events, border.ends_stream),
        ContentKind::Json | ContentKind::Binary => {
            for event in events {
                let id = event.end.to_string();
                push_message(out, Some(&id), None, |writer| {
                    if kind == ContentKind::Json {
                        writer.push(&event.payload);
                    } else {
                        writer.push(BASE64.encode(&event.payload).as_bytes());
                    }
                });
            }
            events.last().map_or(Offset::START, |event| event.end)
        }
    };
    if border.ends_stream {
        closed_message(out, next);
    }
    next
}

/// One message per event; bytes that cut a character go into the next event's message.
fn frame_text_events(out: &mut Vec<u8>, events: &[Event], ends_stream: bool) -> Offset {
    let mut next = events.first().map_or(Offset::START, |event| event.start);
    let mut carried: Vec<u8> = Vec::new();
    for (index, event) in events.iter().enumerate() {
        if carried.is_empty() && std::str::from_utf8(&event.payload).is_ok() {
            next = event.end;
            push_message(out, Some(&next.to_string()), None, |writer| writer.push(&event.payload));
            continue;
        }
        carried.extend_from_slice(&event.payload);
        let is_final = ends_stream && index + 1 == events.len();
        let shown = if is_final { carried.len() } else { utf8::complete_len(&carried) };
        if shown == 0 {
            continue;
        }
        let held = carried.len() - shown;
        next = before_end(event, held);
        let mut text = Vec::with_capacity(shown);
        utf8::push_lossy(&mut text, &carried[..shown]);
        push_message(out, Some(&next.to_string()), None, |writer| writer.push(&text));
        carried.drain(..shown);
    }
    next
}

/// The offset `held` bytes before the end of `event`, which has at least as many.
fn before_end(event: &Event, held: usize) -> Offset {
    if held == 0 {
        return event.end;
    }
    event.start.inside_event((event.payload.len().saturating_sub(held)) as u64)
}

/// The text of several events as one, up to its last whole character.
struct WholeText<'a> {
    events: &'a [Event],
    /// The text with faults replaced, where the events are not valid one by one.
    mended: Option<Vec<u8>>,
    next: Offset,
}

impl<'a> WholeText<'a> {
    fn of(events: &'a [Event], ends_stream: bool) -> Self {
        let valid = events.iter().all(|event| std::str::from_utf8(&event.payload).is_ok());
        if valid {
            let next = events.last().map_or(Offset::START, |event| event.end);
            return Self { events, mended: None, next };
        }
        let joined = join(events);
        let shown = if ends_stream { joined.len() } else { utf8::complete_len(&joined) };
        let mut mended = Vec::with_capacity(shown);
        utf8::push_lossy(&mut mended, &joined[..shown]);
        Self { events, mended: Some(mended), next: offset_at(events, shown) }
    }

    fn is_empty(&self) -> bool {
        self.mended.as_ref().is_some_and(Vec::is_empty)
    }

    fn push(&self, writer: &mut DataWriter<'_>) {
        match &self.mended {
            Some(text) => writer.push(text),
            None => self.events.iter().for_each(|event| writer.push(&event.payload)),
        }
    }
}

/// The offset `bytes` behind the start of `events`, which follow one another.
fn offset_at(events: &[Event], mut bytes: usize) -> Offset {
    for event in events {
        if bytes < event.payload.len() {
            return event.start.inside_event(bytes as u64);
        }
        bytes -= event.payload.len();
        if bytes == 0 {
            return event.end;
        }
    }
    events.last().map_or(Offset::START, |event| event.end)
}

fn join(events: &[Event]) -> Vec<u8> {
    let mut joined = Vec::with_capacity(events.iter().map(|event| event.payload.len()).sum());
    events.iter().for_each(|event| joined.extend_from_slice(&event.payload));
    joined
}

/// Appends one message. Our ids are offsets and our names are literals, so none is refused.
pub(crate) fn push_message(
    out: &mut Vec<u8>,
    id: Option<&str>,
    event: Option<&str>,
    data: impl FnOnce(&mut DataWriter<'_>),
) {
    let fields = Fields { id, event, retry_ms: None };
    match DataWriter::begin(out, &fields) {
        Ok(mut writer) => {
            data(&mut writer);
            writer.finish();
        }
        Err(error) => debug_assert!(false, "{error}"),
    }
}

/// Appends an `id:` line alone: it moves the client's cursor and fires no event.
pub(crate) fn push_id(out: &mut Vec<u8>, at: Offset) {
    let written = encode::id_only(out, &at.to_string());
    debug_assert!(written.is_ok());
}

#[cfg(test)]
pub(crate) mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;
    use squall_wire::sse::decode::{SseDecoder, SseItem};

    use super::*;

    pub(crate) const DIALECTS: [Dialect; 2] = [Dialect::Events, Dialect::Sse];

    const OPEN: Border = Border { up_to_date: true, ends_stream: false };
    const END: Border = Border { up_to_date: true, ends_stream: true };

    pub(crate) fn view(dialect: Dialect) -> View {
        View { dialect, kind: ContentKind::Text, cursor: Cursor(1) }
    }

    /// `text` as the events that `cuts` make of it.
    pub(crate) fn split(text: &[u8], cuts: &[prop::sample::Index]) -> Vec<Event> {
        let mut borders: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len())).collect();
        borders.extend([0, text.len()]);
        borders.sort_unstable();
        borders.dedup();
        let events = borders.windows(2).map(|pair| Event {
            start: Offset::at(pair[0] as u64),
            end: Offset::at(pair[1] as u64),
            payload: Bytes::copy_from_slice(&text[pair[0]..pair[1]]),
        });
        events.collect()
    }

    /// What a store gives from `at` on.
    pub(crate) fn behind(events: &[Event], at: Offset) -> Vec<Event> {
        let left = events.iter().filter(|event| event.end > at);
        left.map(|event| {
            let skipped = at.position().unwrap().saturating_sub(event.start.position().unwrap());
            let payload = event.payload.slice(usize::try_from(skipped).unwrap()..);
            Event { start: event.start.max(at), end: event.end, payload }
        })
        .collect()
    }

    /// The text of `frames`, and the ids of the messages that bring it.
    pub(crate) fn read(frames: &[u8]) -> (String, Vec<Offset>) {
        let (mut text, mut ids) = (String::new(), Vec::new());
        let (mut decoder, mut input) = (SseDecoder::default(), frames);
        while let Some(item) = decoder.decode(&mut input).unwrap() {
            if let SseItem::Event(event) = item
                && matches!(event.event, "message" | "data")
            {
                text.push_str(event.data);
                ids.push(event.last_event_id.parse().unwrap());
            }
        }
        assert!(decoder.is_at_border());
        (text, ids)
    }

    prop_compose! {
        pub(crate) fn any_events()(
            text in "[a-c \n:é€💩]{1,24}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) -> (String, Vec<Event>) {
            let events = split(text.as_bytes(), &cuts);
            (text, events)
        }
    }

    proptest! {
        /// Wherever a text was cut into events, a follow from any character shows the rest.
        #[test]
        fn frames_give_the_text_back((text, events) in any_events(), start in any::<prop::sample::Index>()) {
            let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let start = *start.get(&starts);
            for dialect in DIALECTS {
                let mut out = Vec::new();
                let left = behind(&events, Offset::at(start as u64));
                let next = frame(&mut out, view(dialect), &left, END);
                prop_assert_eq!(&read(&out).0, &text[start..]);
                prop_assert_eq!(next, Offset::at(text.len() as u64));
            }
        }

        /// Events that come one by one give the same text, and from each id that was sent
        /// the rest follows: nothing twice, nothing lost.
        #[test]
        fn every_id_resumes_where_its_message_ended((text, events) in any_events()) {
            for dialect in DIALECTS {
                let (mut at, mut out) = (Offset::START, Vec::new());
                for committed in 1..=events.len() {
                    let mut one = Vec::new();
                    at = frame(&mut one, view(dialect), &behind(&events[..committed], at), OPEN);
                    out.extend_from_slice(&one);
                    let (shown, ids) = read(&out);
                    prop_assert_eq!(&shown, &text[..shown.len()]);
                    prop_assert!(ids.is_sorted_by(|one, next| one < next));
                    prop_assert_eq!(at, Offset::at(shown.len() as u64));
                    let mut rest = Vec::new();
                    frame(&mut rest, view(dialect), &behind(&events, at), END);
                    prop_assert_eq!(shown.clone() + &read(&rest).0, &text[..]);
                    prop_assert!(ids.is_empty() || ids.last() == Some(&at));
                }
            }
        }
    }

    fn check(payloads: &[&[u8]], border: Border, expected: &str, next: u64) {
        let text = payloads.concat();
        let mut end = 0;
        let events: Vec<Event> = payloads
            .iter()
            .map(|payload| {
                let start = end;
                end += payload.len() as u64;
                let payload = Bytes::copy_from_slice(payload);
                Event { start: Offset::at(start), end: Offset::at(end), payload }
            })
            .collect();
        for dialect in DIALECTS {
            let mut out = Vec::new();
            let found = frame(&mut out, view(dialect), &events, border);
            assert_eq!((read(&out).0.as_str(), found), (expected, Offset::at(next)), "{text:?}");
        }
    }

    #[test]
    fn a_cut_character_waits_and_a_broken_one_does_not() {
        check(&[b"\xe2"], OPEN, "", 0);
        check(&[b"a\xe2", b"\x82"], OPEN, "a", 1);
        check(&[b"a\xe2", b"\x82", b"\xac"], OPEN, "a€", 4);
        check(&[b"a\xe2", b"b"], OPEN, "a\u{fffd}b", 3);
        check(&[b"\xff", b"\xf0\x9f"], OPEN, "\u{fffd}", 1);
        check(&[b"\xf0", b"\xe2", b"\x82"], OPEN, "\u{fffd}", 1);
        check(&[b"\xf0\x9f"], END, "\u{fffd}", 2);
        check(&[b"\xe2", b"\x82"], END, "\u{fffd}", 2);
    }

    #[test]
    fn a_line_end_is_one_line_break() {
        check(&[b"a\r\nb\rc\nd"], OPEN, "a\nb\nc\nd", 8);
    }
}
