//! Strangers who want to use up the server's memory.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use squall_testkit::http::{Request, call};
use squall_testkit::process::ServerProcess;
use tempfile::tempdir;

use crate::command::start;
use crate::memory::resident_bytes;

/// Room for request bodies, for pages, and for buffers of all connections.
const GROWN_BYTES_MAX: u64 = 32 << 20;

/// What an attack may send on one connection before it has won.
const SENT_BYTES_MAX: usize = 64 << 20;

/// Of each kind at a time, held open by those who do not read.
const CONNECTIONS: usize = 6;

#[test]
fn hostile_clients_do_not_use_up_memory() {
    let directory = tempdir().unwrap();
    let options = ["--event-bytes-max", "1MiB", "--bodies-bytes-max", "4MiB"];
    let server = start(directory.path(), &options);
    let posted = Request::new("POST", "/").body(vec![b'x'; 1 << 20]);
    assert_eq!(call(server.address(), &posted).unwrap().status, 200);
    let before = resident_bytes(&server);
    for (what, attack) in attacks() {
        let held: Vec<_> = (0..CONNECTIONS).map(|_| attack_with(&server, &attack)).collect();
        let grown = resident_bytes(&server).saturating_sub(before);
        eprintln!("{what}: {} KiB more", grown / 1024);
        assert!(grown < GROWN_BYTES_MAX, "{what}: {grown} bytes more");
        assert_eq!(call(server.address(), &Request::new("GET", "/healthz")).unwrap().status, 200);
        drop(held);
    }
}

/// Bytes to begin with, and bytes that are sent over and over behind them.
struct Attack {
    begin: Vec<u8>,
    again: Vec<u8>,
}

fn attacks() -> Vec<(&'static str, Attack)> {
    let attack = |begin: &str, again: String| Attack {
        begin: begin.as_bytes().to_vec(),
        again: again.into_bytes(),
    };
    let host = "HTTP/1.1\r\nHost: localhost\r\n";
    let x = "x".repeat(64 * 1024);
    vec![
        ("large answers that are not read", attack("", format!("GET / {host}\r\n").repeat(300))),
        ("small answers that are not read", attack("", format!("GET /nowhere {host}\r\n"))),
        (
            "an endless body",
            attack(&format!("POST / {host}Content-Length: 999999999\r\n\r\n"), x.clone()),
        ),
        (
            "endless chunks",
            attack(
                &format!("POST / {host}Transfer-Encoding: chunked\r\n\r\n"),
                format!("10000\r\n{x}\r\n"),
            ),
        ),
        (
            "endless small chunks",
            attack(
                &format!("POST / {host}Transfer-Encoding: chunked\r\n\r\n"),
                "1\r\nx\r\n".repeat(1000),
            ),
        ),
        (
            "an endless chunk extension",
            attack(&format!("POST / {host}Transfer-Encoding: chunked\r\n\r\n1;"), x.clone()),
        ),
        (
            "endless trailers",
            attack(
                &format!("POST / {host}Transfer-Encoding: chunked\r\n\r\n0\r\n"),
                "T: t\r\n".repeat(1000),
            ),
        ),
        ("endless headers", attack(&format!("GET / {host}"), "h: v\r\n".repeat(10_000))),
        ("an endless target", attack("GET /", x.clone())),
        ("endless empty lines", attack("", "\r\n".repeat(10_000))),
        ("endless nonsense", attack("\0", x)),
    ]
}

/// Sends until the server has closed the connection or taken nothing for a moment.
fn attack_with(server: &ServerProcess, attack: &Attack) -> TcpStream {
    let mut socket = TcpStream::connect(server.address()).unwrap();
    socket.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut sent = 0;
    let mut open = socket.write_all(&attack.begin).is_ok();
    while open && sent < SENT_BYTES_MAX {
        open = socket.write_all(&attack.again).is_ok();
        sent += attack.again.len();
    }
    socket
}
