//! Rows that nothing reads any more go, in steps, and their space is given back.

use std::fs;

use squall_stream::{Offset, StreamStore};

use crate::support::{Place, append, name};

#[tokio::test]
async fn a_recreated_stream_never_shows_the_old_rows() {
    let place = Place::new();
    let opened = place.open();
    for round in 0..20 {
        for at in 0..50 {
            opened.append("s", &format!("{round}.{at}")).await;
        }
        let found = opened.payloads("s").await;
        assert_eq!(found.len(), 50, "round {round}");
        assert!(found.iter().all(|event| event.starts_with(format!("{round}.").as_bytes())));
        opened.store.delete(name("s")).await.unwrap();
        assert!(!opened.exists("s").await);
    }
    place.ask_until("SELECT count(*) FROM events", 0).await;
    place.ask_until("SELECT count(*) FROM purges", 0).await;
    assert_eq!(place.ask("SELECT count(*) FROM streams"), 0);
}

/// The mark is enough: what was not deleted before a stop goes after the next start.
#[tokio::test]
async fn a_purge_goes_on_after_a_restart() {
    let place = Place::new();
    let opened = place.open();
    for _ in 0..10 {
        let mut many = append("s", "x");
        many.events = vec![bytes::Bytes::from_static(&[7; 1_000]); 1_000];
        opened.store.append(many).await.unwrap();
    }
    opened.store.delete(name("s")).await.unwrap();
    opened.shut_down().await;
    let opened = place.open();
    assert!(!opened.exists("s").await);
    place.ask_until("SELECT count(*) FROM events", 0).await;
}

#[tokio::test]
async fn space_is_given_back_to_the_file_system() {
    let place = Place::new();
    let opened = place.open();
    for _ in 0..16 {
        opened.append("s", &"x".repeat(1 << 20)).await;
    }
    opened.append("kept", "small").await;
    opened.store.delete(name("s")).await.unwrap();
    place.ask_until("SELECT count(*) FROM events", 1).await;
    place.ask_until("SELECT freelist_count <= 256 FROM pragma_freelist_count", 1).await;
    opened.shut_down().await;
    let length = fs::metadata(place.directory.path().join("squall.db")).unwrap().len();
    assert!(length < 4 << 20, "{length} bytes are left of 16 MiB");
    assert_eq!(place.open().payloads("kept").await, ["small"]);
}

#[tokio::test]
async fn trimmed_events_are_gone_at_once_and_from_the_disk_soon() {
    let place = Place::new();
    let opened = place.open();
    for at in 0..100 {
        opened.append("s", &format!("{at:02}")).await;
    }
    let earliest = opened.store.trim(name("s"), Offset::at(181)).await.unwrap();
    assert_eq!(earliest, Offset::at(180), "rounded down to the start of an event");
    assert_eq!(opened.payloads("s").await.len(), 10);
    place.ask_until("SELECT count(*) FROM events", 10).await;
    place.ask_until("SELECT count(*) FROM purges", 0).await;
    opened.append("s", "100").await;
    assert_eq!(opened.payloads("s").await.len(), 11);
    opened.shut_down().await;
    let opened = place.open();
    let info = opened.store.describe(name("s")).await.unwrap();
    assert_eq!((info.events, info.earliest), (11, Offset::at(180)));
}

/// Events are found whether they are in the index, not yet in it, or on both sides.
#[tokio::test]
async fn events_are_found_on_both_sides_of_the_index() {
    let place = Place::new();
    let mut opened = place.open();
    let names = ["a", "b", "c"];
    for round in 0..30 {
        for _ in 0..100 {
            for name in names {
                drop(opened.store.append(append(name, "0123456789")));
            }
        }
        opened.append("a", "9876543210").await;
        if round % 10 == 9 {
            opened.shut_down().await;
            opened = place.open();
        }
        check_pages(&opened, "a", (round + 1) * 1_010).await;
        check_pages(&opened, "b", (round + 1) * 1_000).await;
    }
    assert!(place.ask("SELECT count(*) FROM positions") > 8_000);
    let unindexed = "SELECT count(*) FROM events WHERE seq > (SELECT up_to FROM indexed)";
    assert!(place.ask(unindexed) < 1_024);
    let doubled = "SELECT count(*) FROM positions WHERE seq > (SELECT up_to FROM indexed)";
    assert_eq!(place.ask(doubled), 0);
    let last = squall_stream::ReadFrom::Last;
    let target = squall_stream::request::ReadTarget::Name(name("a"));
    let read = squall_stream::request::Read { target, from: last, bytes_max: 5 };
    let page = opened.store.read(read).await.unwrap();
    assert_eq!((page.data.as_ref(), page.next), (b"9876543210".as_ref(), page.tail));
}

/// Pages of any size, from anywhere, are what the whole stream is there.
async fn check_pages(opened: &crate::support::Opened, stream: &str, tail: u64) {
    let whole: Vec<u8> = opened.payloads(stream).await.concat();
    assert_eq!(whole.len() as u64, tail);
    let starts = [0, 5, tail / 2, tail.saturating_sub(1_500), tail - 25, tail - 10, tail - 1, tail];
    for from in starts.into_iter().filter(|from| *from <= tail) {
        for bytes_max in [1, 35, 3_000] {
            let page = opened.page(stream, from, bytes_max).await;
            let start = usize::try_from(from).unwrap();
            let expected = &whole[start..start + page.data.len()];
            assert_eq!(page.data, expected, "{stream} from {from} up to {bytes_max}");
            assert!(!page.data.is_empty() || from == tail);
        }
    }
}
