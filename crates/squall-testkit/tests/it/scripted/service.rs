//! Service times and pauses.

use std::io::Write;
use std::net::Shutdown;
use std::time::Duration;

use squall_testkit::scripted::{
    ConnectionRecord, Ending, Pause, RequestRecord, ScriptedServer, Service, ServiceTimes,
    monotonic_ns, reply,
};

use super::support::{connect, get, open, read_to_end, wait_for_end};

const MS: u64 = 1_000_000;

fn serve(times: ServiceTimes, pauses: Option<Pause>) -> ScriptedServer {
    let reply = reply(200, "ok");
    ScriptedServer::serve(Service { reply, times, pauses, ..Service::default() })
}

/// Sends `count` requests in one write and takes their replies.
fn pipeline(server: &ScriptedServer, count: usize) -> ConnectionRecord {
    let mut connection = open(server);
    connection.send_bytes(&get().encode("localhost").repeat(count)).unwrap();
    for _ in 0..count {
        assert_eq!(connection.receive("GET").unwrap().text(), "ok");
    }
    server.record().connections[0].clone()
}

fn due_and_replied(request: &RequestRecord) -> (u64, u64) {
    (request.due_at.unwrap(), request.replied_at.unwrap())
}

/// A request begins when it was read or, if later, when the reply before it left.
#[test]
fn pipelined_requests_wait_their_turn() {
    let server = serve(ServiceTimes::Constant(Duration::from_millis(2)), None);
    let record = pipeline(&server, 20);
    assert_eq!((record.requests_read, record.replies_sent), (20, 20));
    let mut free_at = 0;
    for request in &record.requests {
        let (due_at, replied_at) = due_and_replied(request);
        assert_eq!(due_at, request.read_at.max(free_at) + 2 * MS);
        assert!(replied_at >= due_at);
        free_at = replied_at;
    }
}

#[test]
fn without_service_times_replies_leave_together() {
    let server = serve(ServiceTimes::None, None);
    let record = pipeline(&server, 1000);
    assert_eq!((record.requests_read, record.replies_sent), (1000, 1000));
    let mut moments: Vec<_> = record.requests.iter().map(|it| it.replied_at.unwrap()).collect();
    assert!(moments.is_sorted());
    moments.dedup();
    assert!(moments.len() < 500, "{} writes", moments.len());
}

/// Replies longer than what the sockets hold are sent to the end, and only then recorded.
#[test]
fn long_replies_are_whole() {
    let body = vec![b'x'; 8 * 1024 * 1024];
    let server = ScriptedServer::serve(Service { reply: reply(200, &body), ..Service::default() });
    let mut connection = open(&server);
    connection.send_bytes(&get().encode("localhost").repeat(3)).unwrap();
    for _ in 0..3 {
        assert_eq!(connection.receive("GET").unwrap().body.len(), body.len());
    }
    assert_eq!(server.record().replies(), 3);
}

/// A ruler for pauses needs a server that is known to pause.
#[test]
fn no_reply_leaves_in_a_pause() {
    let pause = Pause { every: Duration::from_millis(50), length: Duration::from_millis(20) };
    let server = serve(ServiceTimes::None, Some(pause));
    let mut connections = [open(&server), open(&server)];
    let end = server.started_at() + 220 * MS;
    while monotonic_ns() < end {
        for connection in &mut connections {
            connection.call(&get()).unwrap();
        }
    }
    let mut held = 0;
    for request in server.record().connections.iter().flat_map(|it| &it.requests) {
        let (due_at, replied_at) = due_and_replied(request);
        let since_start = due_at - server.started_at();
        assert!(since_start < 50 * MS || since_start % (50 * MS) >= 20 * MS, "{since_start}");
        assert!(replied_at >= due_at);
        held += usize::from(due_at > request.read_at);
    }
    assert!(held > 0);
}

#[test]
fn replies_owed_to_a_client_that_finished_sending_are_sent() {
    let server = serve(ServiceTimes::Constant(Duration::from_millis(5)), None);
    let socket = connect(&server);
    let requests = get().encode("localhost").repeat(3);
    (&socket).write_all(&requests).unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let text = read_to_end(&socket).unwrap();
    assert_eq!(text.matches("200 OK").count(), 3);
    assert_eq!(wait_for_end(&server, 0), Ending::ClientClosed);
}

#[test]
fn requests_before_a_malformed_one_get_their_replies() {
    let server = serve(ServiceTimes::Constant(Duration::from_millis(5)), None);
    let mut connection = open(&server);
    let bad = b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n";
    connection.send_bytes(&[&get().encode("localhost")[..], bad].concat()).unwrap();
    assert_eq!(connection.receive("GET").unwrap().text(), "ok");
    assert!(matches!(wait_for_end(&server, 0), Ending::Malformed(_)));
}

#[test]
fn requests_are_kept_on_demand() {
    let mut service = Service { keep_requests: true, ..Service::default() };
    let kept = |service: Service| {
        let server = ScriptedServer::serve(service);
        open(&server).call(&get()).unwrap();
        server.stop().connections[0].requests[0].content.is_some()
    };
    assert!(kept(service.clone()));
    service.keep_requests = false;
    assert!(!kept(service));
}

/// Prints how late replies leave: for a quiet machine and a release build.
#[test]
#[ignore = "a measurement, not a test"]
fn service_times_are_kept_to_the_microsecond() {
    let server = serve(ServiceTimes::Constant(Duration::from_micros(200)), None);
    let mut connection = open(&server);
    for _ in 0..5000 {
        connection.call(&get()).unwrap();
    }
    let record = server.record();
    let requests = &record.connections[0].requests;
    let mut late: Vec<_> = requests.iter().map(due_and_replied).map(|(due, at)| at - due).collect();
    late.sort_unstable();
    let at = |fraction: usize| late[late.len() * fraction / 1000];
    eprintln!("late by p50 {} p99 {} p99.9 {} ns", at(500), at(990), at(999));
    assert!(at(500) < 20_000);
}
