//! From stored events to live ones: nothing lost, nothing twice, nothing out of order.

use std::sync::{Barrier, Mutex};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use squall_testkit::http::{Connection, Request};

use crate::follower::Follower;
use crate::support::{TestServer, at, path, post};

const ROUNDS: u64 = 1_000;
/// Events of a stream; each is one letter, so that positions count them.
const EVENTS: usize = 8;

/// One letter for each event, in order.
fn letters() -> String {
    ('a'..).take(EVENTS).collect()
}

/// Appends the letters from `stored` on, the last of them closing the stream.
fn append_the_rest(connection: &mut Connection, name: &str, stored: usize) {
    for (index, letter) in letters().char_indices().skip(stored) {
        let request = post(name).header("Content-Type", "text/plain").body(letter.to_string());
        let last = index + 1 == EVENTS;
        let request = if last { request.header("Stream-Closed", "true") } else { request };
        assert_eq!(connection.call(&request).unwrap().status, 204);
    }
}

/// Follows from `start` to the end, over a connection that is there already.
fn follow(connection: Connection, name: &str, query: &str, start: usize) {
    let target = format!("{}?{query}&offset={}", path(name), at(start as u64));
    let mut follower = Follower::on(connection, &Request::new("GET", &target));
    let (mut text, mut last_id) = (String::new(), at(start as u64));
    while let Some(message) = follower.next() {
        assert!(message.id >= last_id, "{name}: {message:?} after {last_id}");
        last_id = message.id;
        if matches!(&*message.event, "message" | "data") {
            text.push_str(&message.data);
            assert_eq!(last_id, at((start + text.len()) as u64), "{name}");
        }
    }
    assert_eq!(text, letters()[start..], "{name} {query} from {start}");
    assert_eq!(last_id, at(EVENTS as u64), "{name} {query} from {start}");
}

/// A follower may come at any moment while events are appended: `mercure#178` lost those
/// that came between its look at the history and its place among the live ones.
#[test]
fn a_thousand_followers_that_come_amid_appends_miss_nothing() {
    let server = TestServer::start();
    let mut dice = StdRng::seed_from_u64(178);
    let rounds: Vec<(usize, [usize; 2])> = (0..ROUNDS)
        .map(|_| {
            let stored = dice.random_range(0..EVENTS);
            (stored, [(); 2].map(|()| dice.random_range(0..=stored)))
        })
        .collect();
    let barrier = Barrier::new(3);
    let followed = Mutex::new(0);
    std::thread::scope(|scope| {
        for (side, query) in ["live=events", "live=sse"].into_iter().enumerate() {
            let (server, rounds, barrier, followed) = (&server, &rounds, &barrier, &followed);
            scope.spawn(move || {
                for (round, (_, starts)) in rounds.iter().enumerate() {
                    let connection = server.connect();
                    barrier.wait();
                    follow(connection, &format!("s{round}"), query, starts[side]);
                    *followed.lock().unwrap() += 1;
                }
            });
        }
        let mut connection = server.connect();
        for (round, (stored, _)) in rounds.iter().enumerate() {
            let name = format!("s{round}");
            let first = Request::new("PUT", &path(&name)).header("Content-Type", "text/plain");
            let first = first.body(&letters().as_bytes()[..*stored]);
            assert_eq!(connection.call(&first).unwrap().status, 201);
            barrier.wait();
            append_the_rest(&mut connection, &name, *stored);
        }
    });
    assert_eq!(*followed.lock().unwrap(), 2 * ROUNDS);
}

/// The last event and the close, some way into the wait of a follower and of a long-poll.
/// `durable-streams#376`
#[test]
fn an_append_that_closes_is_never_lost_on_a_reader_at_the_tail() {
    let server = TestServer::start();
    let mut connection = server.connect();
    let mut reader = server.connect();
    for round in 0..100 {
        let name = format!("s{round}");
        let made = Request::new("PUT", &path(&name)).header("Content-Type", "text/plain");
        assert_eq!(connection.call(&made).unwrap().status, 201);
        let poll = format!("{}?live=long-poll&offset={}", path(&name), at(0));
        reader.send(&Request::new("GET", &poll)).unwrap();
        let last = post(&name).header("Content-Type", "text/plain").header("Stream-Closed", "true");
        assert_eq!(connection.call(&last.body("end")).unwrap().status, 204);
        let found = reader.receive("GET").unwrap();
        assert_eq!((found.status, found.text().as_str()), (200, "end"), "{name}");
        assert_eq!(found.header("Stream-Closed"), Some("true"), "{name}");
    }
}
