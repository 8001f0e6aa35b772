//! HTTP/2 in clear text, by clients that know of it beforehand.

use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use h2::client::SendRequest;
use squall_server::Ended;
use squall_testkit::http::Request;
use squall_testkit::wait::wait_until;

use crate::support::{PATIENCE, TestServer, assert_problem};

/// Runs clients, and ends them before their server is.
fn run(clients: impl Future<Output = ()>) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap().block_on(clients);
}

/// One connection, whose streams may each have `window` bytes on their way.
async fn connect(server: &TestServer, window: u32) -> SendRequest<Bytes> {
    let socket = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(window).initial_connection_window_size(1 << 30);
    let (client, connection) = builder.handshake(socket).await.unwrap();
    tokio::spawn(connection);
    client.ready().await.unwrap()
}

fn request(method: &str, target: &str) -> http::Request<()> {
    let uri = format!("http://localhost{target}");
    http::Request::builder().method(method).uri(uri).body(()).unwrap()
}

/// Sends a request with a body, and returns the answer's status and its unread body.
async fn send(
    client: &mut SendRequest<Bytes>,
    request: http::Request<()>,
    body: &'static [u8],
) -> (u16, RecvStream) {
    let mut ready = client.clone().ready().await.unwrap();
    let (answer, mut stream) = ready.send_request(request, body.is_empty()).unwrap();
    if !body.is_empty() {
        stream.send_data(Bytes::from_static(body), true).unwrap();
    }
    let (head, body) = answer.await.unwrap().into_parts();
    (head.status.as_u16(), body)
}

async fn chunk(body: &mut RecvStream) -> Option<Bytes> {
    let data = tokio::time::timeout(PATIENCE, body.data()).await.unwrap()?.unwrap();
    body.flow_control().release_capacity(data.len()).unwrap();
    Some(data)
}

async fn read(mut body: RecvStream) -> String {
    let mut whole = Vec::new();
    while let Some(data) = chunk(&mut body).await {
        whole.extend_from_slice(&data);
    }
    String::from_utf8(whole).unwrap()
}

/// Reads a follow until `mark` has come.
async fn read_until(body: &mut RecvStream, mark: &str) {
    let mut text = String::new();
    while !text.contains(mark) {
        text += str::from_utf8(&chunk(body).await.unwrap()).unwrap();
    }
}

#[test]
fn appends_reads_and_follows_share_a_connection() {
    let server = TestServer::start();
    run(async {
        let mut client = connect(&server, 65_535).await;
        let (status, mut follow) = send(&mut client, request("GET", "/stream"), b"").await;
        assert_eq!(status, 200);
        for body in [&b"first"[..], b"second"] {
            let (status, answer) = send(&mut client, request("POST", "/"), body).await;
            assert_eq!((status, read(answer).await.as_str()), (200, "Success"));
            let (status, answer) = send(&mut client, request("GET", "/"), b"").await;
            assert_eq!((status, read(answer).await.as_bytes()), (200, body));
            read_until(&mut follow, &format!("data:{}\n\n", str::from_utf8(body).unwrap())).await;
        }
        assert_eq!(server.metric("squall_connections"), 2);
    });
}

#[test]
fn many_requests_run_at_the_same_time() {
    let server = TestServer::start();
    run(async {
        let mut client = connect(&server, 65_535).await;
        drop(send(&mut client, request("POST", "/"), b"event").await);
        let tasks: Vec<_> = (0..200)
            .map(|_| {
                let mut client = client.clone();
                tokio::spawn(async move {
                    let (status, answer) = send(&mut client, request("GET", "/"), b"").await;
                    assert_eq!((status, read(answer).await.as_str()), (200, "event"));
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn a_follower_that_stops_reading_blocks_nobody() {
    let server = TestServer::start();
    server.create("s", "text/plain");
    run(async {
        let mut client = connect(&server, 65_535).await;
        let target = "/v1/stream/s?live=events";
        let (_, _stalled) = send(&mut client, request("GET", target), b"").await;
        let (_, mut beside) = send(&mut client, request("GET", target), b"").await;
        let mut elsewhere = server.connect();
        elsewhere.send(&Request::new("GET", target)).unwrap();
        elsewhere.receive_head().unwrap();
        let event = "x".repeat(50_000);
        for count in 0..60 {
            server.append("s", "text/plain", format!("{count:06}{event}"));
            read_until(&mut beside, "x\n\n").await;
            while !elsewhere.receive_chunk().unwrap().ends_with(b"x\n\n") {}
        }
        let (status, _) = send(&mut client, request("GET", "/healthz"), b"").await;
        assert_eq!(status, 200);
    });
}

/// What a peer does not take is not kept for ever: it would use up the pages of all.
#[test]
fn answers_that_are_not_taken_are_given_up() {
    let server = TestServer::with(|config| {
        config.pages_bytes_max = 1 << 20;
        config.page_wait_max = Duration::from_millis(100);
        config.write_max = Duration::from_millis(500);
    });
    server.create("s", "text/plain");
    for _ in 0..4 {
        server.append("s", "text/plain", vec![b'x'; 200 << 10]);
    }
    run(async {
        let mut client = connect(&server, 1).await;
        let mut stalled = Vec::new();
        for _ in 0..4 {
            stalled.push(send(&mut client, request("GET", "/v1/stream/s"), b"").await);
        }
        assert_problem(&server.read("/v1/stream/s"), 503, "overloaded");
        assert!(wait_until(PATIENCE, || server.read("/v1/stream/s").status == 200));
    });
}

#[test]
fn a_follower_that_takes_nothing_is_cut() {
    let server = TestServer::with(|config| config.write_max = Duration::from_millis(500));
    server.create("s", "text/plain");
    server.append("s", "text/plain", vec![b'x'; 100_000]);
    run(async {
        let mut client = connect(&server, 1_000).await;
        let stalled = send(&mut client, request("GET", "/v1/stream/s?live=events"), b"").await;
        let mut idle = connect(&server, 65_535).await;
        let quiet = send(&mut idle, request("GET", "/stream"), b"").await;
        server.wait_for_followers(2);
        server.wait_for_followers(1);
        drop((stalled, quiet));
    });
}

#[test]
fn limits_hold_here_too() {
    let server = TestServer::with(|config| config.event_bytes_max = 10);
    run(async {
        let mut client = connect(&server, 65_535).await;
        let (status, _) = send(&mut client, request("POST", "/"), b"01234567890").await;
        assert_eq!(status, 413);
        let mut large = request("GET", "/healthz");
        large.headers_mut().insert("x", "x".repeat(20_000).parse().unwrap());
        let (status, _) = send(&mut client, large, b"").await;
        assert_eq!(status, 431);
        let foreign = http::Request::builder().uri("http://example.org/healthz").body(()).unwrap();
        assert_eq!(send(&mut client, foreign, b"").await.0, 421);
        assert_eq!(send(&mut client, request("GET", "/healthz"), b"").await.0, 200);
    });
}

/// The rapid reset (CVE-2023-44487): requests that are taken back as soon as they are made.
#[test]
fn requests_that_are_taken_back_cost_little() {
    let server = TestServer::start();
    run(async {
        let client = connect(&server, 65_535).await;
        for _ in 0..2_000 {
            let Ok(mut ready) = client.clone().ready().await else {
                break; // The server has had enough.
            };
            let Ok((_, mut stream)) = ready.send_request(request("GET", "/stream"), true) else {
                break;
            };
            stream.send_reset(h2::Reason::CANCEL);
            tokio::task::yield_now().await;
        }
        assert_eq!(server.read("/healthz").status, 200);
        server.wait_for_followers(0);
    });
}

#[test]
fn a_server_that_stops_ends_every_stream() {
    let server = TestServer::start();
    run(async {
        let mut client = connect(&server, 65_535).await;
        let (_, mut follow) = send(&mut client, request("GET", "/stream"), b"").await;
        server.wait_for_followers(1);
        let stopped = tokio::task::spawn_blocking(move || server.stop());
        read_until(&mut follow, "retry:").await;
        while let Some(end) = chunk(&mut follow).await {
            assert!(end.is_empty());
        }
        assert_eq!(stopped.await.unwrap(), Ended::Drained);
        assert!(client.ready().await.is_err());
    });
}
