//! Stamped appends, and where they went.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use squall_load::spec::{BodySpec, FollowSpec, LoadSpec};
use squall_stats::record::DeliveryRecord;

use crate::support::{load, run};

/// How often a server passes on the event with this number.
type Copies = fn(u64) -> usize;

/// A server that passes on each body that is posted to all who follow. Ends with its clients.
fn fan_out(copies: Copies) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let hub = Arc::new(Mutex::new(Hub { copies, followers: Vec::new(), numbers: HashMap::new() }));
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let hub = Arc::clone(&hub);
            thread::spawn(move || talk(&client, &hub));
        }
    });
    url
}

struct Hub {
    copies: Copies,
    followers: Vec<TcpStream>,
    /// Events so far, by publisher.
    numbers: HashMap<String, u64>,
}

fn talk(client: &TcpStream, hub: &Mutex<Hub>) {
    let mut reader = BufReader::new(client);
    while let Some((is_post, body)) = read_request(&mut reader) {
        if !is_post {
            let mut follower = client.try_clone().unwrap();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
            follower.write_all(head.as_bytes()).unwrap();
            return hub.lock().unwrap().followers.push(follower);
        }
        hub.lock().unwrap().pass_on(&body);
        let sent = { client }.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        if sent.is_err() {
            return;
        }
    }
}

impl Hub {
    fn pass_on(&mut self, body: &str) {
        let publisher = body.split(' ').nth(1).unwrap().to_owned();
        let number = self.numbers.entry(publisher).or_default();
        let message = format!("data: {body}\n\n").repeat((self.copies)(*number));
        *number += 1;
        // One that is gone has been told by its end.
        self.followers.retain_mut(|follower| follower.write_all(message.as_bytes()).is_ok());
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<(bool, String)> {
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok().filter(|count| *count > 0)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((first.starts_with("POST"), String::from_utf8(body).ok()?))
}

/// 200 appends beside 5 followers and 2 slow ones.
fn delivery(copies: Copies, connections: usize) -> DeliveryRecord {
    let url = fan_out(copies);
    let follow = FollowSpec {
        url: format!("{url}/stream"),
        followers: 5,
        // They read less than what comes, and are in no count of deliveries.
        slow_followers: 2,
        match_text: None,
    };
    let record = run(&LoadSpec {
        body: BodySpec::Stamp(100),
        connections,
        follow: Some(follow),
        timeout: crate::support::ms(500),
        ..load(&url, 200)
    });
    assert_eq!(record.ledger.ok, 200, "{:?}", record.ledger);
    record.followers.unwrap().delivery.unwrap()
}

#[test]
fn every_follower_gets_every_append_once() {
    let found = delivery(|_number| 1, 4);
    assert_eq!((found.appended, found.delivered, found.time.count), (200, 1_000, 1_000));
    let odd = (found.lost, found.undelivered, found.repeated, found.reordered, found.foreign);
    assert_eq!(odd, (0, 0, 0, 0, 0));
    assert!(found.time.p50.unwrap() > 0);
}

/// The first of every ten is dropped, and later ones come.
#[test]
fn dropped_events_are_lost_for_every_follower() {
    let found = delivery(|number| usize::from(number % 10 != 0), 1);
    assert_eq!((found.lost, found.undelivered), (5 * 20, 0), "{found:?}");
    assert_eq!(found.delivered, 5 * 180);
}

/// What is missing at the end may still be on its way.
#[test]
fn the_last_events_of_all_are_undelivered_rather_than_lost() {
    let found = delivery(|number| usize::from(number < 160), 1);
    assert_eq!((found.lost, found.undelivered), (0, 5 * 40), "{found:?}");
}

#[test]
fn events_that_come_twice_are_repeated() {
    let found = delivery(|number| if number == 7 { 2 } else { 1 }, 1);
    assert_eq!((found.repeated, found.delivered, found.lost), (5, 1_000, 0), "{found:?}");
}
