//! Shutting down with requests under way: what was begun is finished, or cut in time.

use std::time::Duration;

use squall_server::Ended;
use squall_testkit::faulty::{Fault, Gate, Method, When};
use squall_testkit::http::{Connection, Request};
use squall_testkit::wait::wait_until;

use crate::raw::{Raw, faulty, statuses};
use crate::support::{PATIENCE, TestServer};

fn healthy() -> Request {
    Request::new("GET", "/healthz")
}

#[test]
fn an_append_under_way_gets_its_answer() {
    let (mut server, store) = faulty(|_| {});
    let gate = Gate::default();
    store.inject(Method::Append, When::Always, Fault::Stall(gate.clone()));
    let mut waiting: Vec<Connection> = (0..10).map(|_| server.connect()).collect();
    for connection in &mut waiting {
        connection.send(&Request::new("POST", "/").body("kept")).unwrap();
    }
    assert!(wait_until(PATIENCE, || gate.waiting() == waiting.len()));
    server.ask_to_stop();
    assert!(wait_until(PATIENCE, || Connection::open(server.address).is_err()));
    gate.open();
    for connection in &mut waiting {
        let reply = connection.receive("POST").unwrap();
        assert_eq!(reply.text(), "Success");
        assert_eq!(reply.header("Connection"), Some("close"));
    }
    assert_eq!(server.stop(), Ended::Drained);
}

/// One request that is under way keeps the server there to be asked.
#[test]
fn a_server_that_drains_says_so_and_goes_on_answering() {
    let (mut server, store) = faulty(|_| {});
    let gate = Gate::default();
    store.inject(Method::Append, When::Next(1), Fault::Stall(gate.clone()));
    // Behind a request that waits, a connection is not idle and stays open.
    let mut busy = Raw::open(&server);
    busy.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nkept");
    assert!(wait_until(PATIENCE, || gate.waiting() == 1));
    server.ask_to_stop();
    assert!(wait_until(PATIENCE, || Connection::open(server.address).is_err()));
    gate.open();
    let answers = busy.receive_all();
    assert_eq!(statuses(&answers), [200], "{answers}");
    assert_eq!(server.stop(), Ended::Drained);
}

#[test]
fn a_body_under_way_is_taken() {
    let mut server = TestServer::start();
    let mut slow = Raw::open(&server);
    slow.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nke");
    assert!(wait_until(PATIENCE, || server.metric("squall_request_bodies_bytes") > 0));
    server.ask_to_stop();
    assert!(wait_until(PATIENCE, || Connection::open(server.address).is_err()));
    slow.send("pt");
    assert_eq!(statuses(&slow.receive_all()), [200]);
    assert_eq!(server.stop(), Ended::Drained);
}

#[test]
fn long_polls_end_at_once() {
    let mut server = TestServer::start();
    server.create("s", "text/plain");
    let mut waiting: Vec<Connection> = (0..10).map(|_| server.connect()).collect();
    for connection in &mut waiting {
        connection.send(&Request::new("GET", "/v1/stream/s?live=long-poll&offset=now")).unwrap();
    }
    server.wait_for_followers(10);
    server.ask_to_stop();
    for connection in &mut waiting {
        let reply = connection.receive("GET").unwrap();
        assert_eq!(reply.status, 204);
        assert_eq!(reply.header("Stream-Up-To-Date"), Some("true"));
    }
    assert_eq!(server.stop(), Ended::Drained);
}

/// Connections in every state in which there is nothing to finish.
#[test]
fn what_is_idle_is_closed_at_once() {
    let server = TestServer::with(|config| config.drain_max = Duration::from_secs(60));
    let mut silent = Raw::open(&server);
    let mut kept = server.connect();
    assert_eq!(kept.call(&healthy()).unwrap().status, 200);
    let mut half = Raw::open(&server);
    half.send("GET / HTTP/1.1\r\nHost: loc");
    let mut preface = Raw::open(&server);
    preface.send("PRI * HTTP/2.0\r\n");
    assert!(wait_until(PATIENCE, || server.metric("squall_connections") == 5));
    let started = std::time::Instant::now();
    let clients = std::thread::spawn(move || {
        silent.receive_all();
        preface.receive_all();
        drop(half);
        assert!(kept.call(&healthy()).is_err());
    });
    assert_eq!(server.stop(), Ended::Drained);
    clients.join().unwrap();
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn what_is_not_finished_in_time_is_cut_and_counted() {
    let (server, store) = faulty(|config| config.drain_max = Duration::from_millis(300));
    let gate = Gate::default();
    store.inject(Method::Append, When::Always, Fault::Stall(gate.clone()));
    let mut waiting: Vec<Connection> = (0..3).map(|_| server.connect()).collect();
    for connection in &mut waiting {
        connection.send(&Request::new("POST", "/").body("stalled")).unwrap();
    }
    assert!(wait_until(PATIENCE, || gate.waiting() == 3));
    assert_eq!(server.stop(), Ended::Cut { connections: 3 });
    for connection in &mut waiting {
        assert!(connection.receive("POST").is_err());
    }
}

/// A follower that reads nothing cannot take its farewell; it does not hold up the end.
#[test]
fn a_stalled_follower_does_not_outlast_the_drain() {
    let server = TestServer::with(|config| config.drain_max = Duration::from_millis(500));
    server.create("s", "text/plain");
    // More than a kernel takes, in one event, so that it is under way once it has begun.
    server.append("s", "text/plain", vec![b'x'; 12 << 20]);
    let mut stalled = Raw::open_small(&server);
    stalled.send("GET /v1/stream/s?live=events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stalled.receive_until("data:x");
    let mut reading = server.connect();
    reading.send(&Request::new("GET", "/stream")).unwrap();
    assert_eq!(reading.receive_head().unwrap().status, 200);
    assert_eq!(server.stop(), Ended::Cut { connections: 1 });
    assert!(String::from_utf8(reading.receive_chunk().unwrap()).unwrap().starts_with("retry:"));
}

/// Servers that wait for followers never end (`axum#2673`, `hyper#2787`).
#[test]
fn two_hundred_followers_are_sent_away_over_ten_seconds() {
    let server = TestServer::with(|config| config.heartbeat = Duration::from_secs(3600));
    let mut following: Vec<Connection> = (0..200).map(|_| server.connect()).collect();
    for connection in &mut following {
        connection.send(&Request::new("GET", "/stream")).unwrap();
        assert_eq!(connection.receive_head().unwrap().status, 200);
    }
    server.wait_for_followers(200);
    assert_eq!(server.stop(), Ended::Drained);
    let mut tenths = [0; 10];
    for connection in &mut following {
        let text = String::from_utf8(connection.receive_chunk().unwrap()).unwrap();
        let wait = text.trim_start_matches("retry:").trim().parse::<usize>().unwrap();
        assert!((1_000..=10_000).contains(&wait), "{wait}");
        tenths[(wait - 1_000) / 901] += 1;
        assert!(connection.receive_chunk().unwrap().is_empty());
    }
    // 20 are expected in each tenth; twice as many would be a herd.
    assert!(tenths.iter().all(|count| (1..=45).contains(count)), "{tenths:?}");
}
