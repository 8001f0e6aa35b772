//! `https://`: who is trusted, and what a failure is called.

use std::path::PathBuf;

use squall_load::plan::{LoadPlan, PlanError};
use squall_load::spec::{BodySpec, LoadSpec, NetworkSpec};
use squall_stats::record::BenchRecord;
use squall_testkit::scripted::{
    After, Script, ScriptedServer, Step, chunk, reply, sse_event, sse_head,
};
use tempfile::TempDir;

use crate::follow_support::{answer, following, following_slowly, portions, seen};
use crate::support::{assert_all_ok, expect_body, heads, load, ms, playing, run};

/// A TLS server, the file with its authority, and the directory that holds it.
struct Secure {
    server: ScriptedServer,
    ca: PathBuf,
    _directory: TempDir,
}

impl Secure {
    fn start(script: Script) -> Self {
        let server = ScriptedServer::start_tls(script);
        let directory = tempfile::tempdir().unwrap();
        let ca = directory.path().join("ca.pem");
        std::fs::write(&ca, server.authority_pem().unwrap()).unwrap();
        Self { server, ca, _directory: directory }
    }

    /// The file of the authority, for longer than the server lives.
    fn ca_kept(self) -> PathBuf {
        let path = self._directory.keep().join("ca.pem");
        drop(self.server);
        path
    }
}

fn secure(steps: impl Into<Vec<Step>>, after: After) -> Secure {
    Secure::start(Script::new().each_connection(steps).then(after))
}

fn hello() -> Secure {
    secure([Step::Request, Step::Send(reply(200, b"hello"))], After::Repeat)
}

fn trusting(secure: &Secure, count: u64) -> LoadSpec {
    let network = NetworkSpec { ca: Some(secure.ca.clone()), ..NetworkSpec::default() };
    LoadSpec { network, expect: expect_body("hello"), ..load(&secure.server.url("/"), count) }
}

#[test]
fn a_server_is_trusted_by_the_authority_that_was_named() {
    let secure = hello();
    let record = run(&LoadSpec { connections: 3, ..trusting(&secure, 50) });
    assert_all_ok(&record, 50);
    assert!(record.target.tls);
    assert_eq!(secure.server.record().requests(), 50);
}

#[test]
fn a_server_that_nobody_vouches_for_is_a_failure_of_tls() {
    let secure = hello();
    let mut spec = trusting(&secure, 4);
    // Some authority, but another one.
    spec.network.ca = Some(hello().ca_kept());
    let record = run(&spec);
    assert_eq!((record.ledger.ok, record.ledger.failures.tls), (0, record.ledger.sent));
    assert!(record.ledger.sent > 0);
    assert!(record.connections.failed["TLS"] > 0, "{:?}", record.connections);
    assert_eq!(secure.server.record().requests(), 0);
}

#[test]
fn any_certificate_is_taken_when_asked_to() {
    let secure = hello();
    let mut spec = trusting(&secure, 20);
    spec.network = NetworkSpec { tls_insecure: true, ..NetworkSpec::default() };
    assert_all_ok(&run(&spec), 20);
}

#[test]
fn the_name_that_is_asked_for_is_the_one_that_is_verified() {
    let secure = hello();
    let mut spec = trusting(&secure, 2);
    spec.network.sni = Some("localhost".to_owned());
    assert_all_ok(&run(&spec), 2);
    spec.network.sni = Some("somebody-else.test".to_owned());
    let ledger = run(&spec).ledger;
    assert_eq!((ledger.ok, ledger.failures.tls), (0, ledger.sent), "{ledger:?}");
    spec.network.sni = Some("no name at all".to_owned());
    assert!(matches!(LoadPlan::build(&spec), Err(PlanError::ServerName { .. })));
}

#[test]
fn requests_are_pipelined_over_tls() {
    let steps = [Step::Requests(8), Step::Send(reply(200, b"hello").repeat(8))];
    let secure = secure(steps, After::Repeat);
    let record = run(&LoadSpec { pipeline: 8, ..trusting(&secure, 64) });
    assert_all_ok(&record, 64);
    assert_eq!(secure.server.record().requests(), 64);
}

#[test]
fn large_bodies_go_both_ways_over_tls() {
    let secure = secure([Step::Request, Step::Echo], After::Repeat);
    let body: Vec<u8> = (0..3_000_000_u32).map(|at| b'a' + (at % 23) as u8).collect();
    let record = run(&LoadSpec {
        body: BodySpec::Bytes(body.clone()),
        expect: expect_body(body),
        ..trusting(&secure, 3)
    });
    assert_all_ok(&record, 3);
}

#[test]
fn a_body_that_is_cut_is_truncated_over_tls_too() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this".to_vec();
    let secure = secure([Step::Request, Step::Send(head), Step::Close], After::Close);
    let record = run(&trusting(&secure, 3));
    assert_eq!(record.ledger.failures.truncated, 3, "{:?}", record.ledger);
}

/// What becomes of a load over `https` of a server that plays `steps` without TLS.
fn run_against_plain(steps: impl Into<Vec<Step>>) -> BenchRecord {
    let server = playing(steps);
    let url = server.url("/").replace("http://", "https://");
    let network = NetworkSpec { tls_insecure: true, ..NetworkSpec::default() };
    let record = run(&LoadSpec { network, connect_timeout: ms(300), ..load(&url, 2) });
    assert_eq!((record.ledger.ok, record.connections.opened), (0, 0), "{:?}", record.ledger);
    assert!(record.ledger.sent > 0);
    record
}

/// The server never speaks TLS: this is told by its name, and nothing hangs.
#[test]
fn a_plain_port_addressed_as_https_is_a_failure_of_tls() {
    let speaks_first = vec![Step::Send(reply(400, b"speak HTTP")), Step::Drain];
    for steps in [speaks_first, vec![Step::Close]] {
        let record = run_against_plain(steps);
        let ledger = &record.ledger;
        assert_eq!(ledger.failures.tls, ledger.sent, "{ledger:?}");
        assert!(record.connections.failed["TLS"] > 0, "{:?}", record.connections);
    }
}

/// A server of HTTP may wait for the end of a head that never comes.
#[test]
fn a_handshake_that_nobody_answers_times_out_as_a_connection() {
    for step in [Step::Stall, Step::Request] {
        let ledger = run_against_plain([step]).ledger;
        assert_eq!(ledger.failures.connect["timeout"], ledger.sent, "{ledger:?}");
    }
}

#[test]
fn followers_read_and_come_back_over_tls() {
    let events: Vec<u8> = (1..=40).flat_map(|id| sse_event(id, &"x".repeat(id * 300))).collect();
    let (bytes, pause) = ([sse_head(), chunk("retry: 20\n\n"), events].concat(), ms(0));
    let steps = [Step::Request, Step::SendSplit { bytes, portion: 5_000, pause }];
    let once = [sse_head(), sse_event(41, "next"), chunk("data: cut")].concat();
    let script = Script::new()
        .connection(steps, After::Close)
        .connection(answer(once), After::Close)
        .connection([Step::Request], After::Stall);
    let secure = Secure::start(script);
    let mut spec = following(&secure.server.url("/"), 1, 800);
    spec.network.ca = Some(secure.ca.clone());
    let found = seen(&spec);
    assert_eq!((found.events, found.reconnects, found.cut_events), (41, 1, 1), "{found:?}");
    assert!(found.failed.is_empty(), "{:?}", found.failed);
    let asked = heads(&secure.server.record());
    assert!(asked[1].contains("\r\nLast-Event-ID: 40\r\n"), "{}", asked[1]);
    assert!(asked[2].contains("\r\nLast-Event-ID: 41\r\n"), "{}", asked[2]);
}

#[test]
fn a_slow_follower_is_slow_over_tls_too() {
    let secure = Secure::start(portions(&b"data: 0123456789\n\n".repeat(20_000), usize::MAX));
    let mut spec = following_slowly(&secure.server.url("/"), 1_300);
    spec.network.ca = Some(secure.ca.clone());
    let found = seen(&spec);
    assert_eq!(found.established, 1);
    assert!((4_096..=3 * 4_096).contains(&found.bytes), "{}", found.bytes);
}

#[test]
fn followers_of_a_server_that_nobody_vouches_for_fail_by_tls() {
    let secure = Secure::start(portions(b"data: a\n\n", usize::MAX));
    let mut spec = following(&secure.server.url("/"), 3, 200);
    spec.network.ca = Some(hello().ca_kept());
    let found = seen(&spec);
    assert_eq!(found.failed, [("TLS".to_owned(), 3)].into());
    assert_eq!((found.asked, found.established), (3, 0));
}

#[test]
fn a_file_of_authorities_that_holds_none_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("empty.pem");
    std::fs::write(&path, "no certificate\n").unwrap();
    for ca in [path, directory.path().join("absent.pem")] {
        let network = NetworkSpec { ca: Some(ca), ..NetworkSpec::default() };
        let error = LoadPlan::build(&LoadSpec { network, ..load("https://127.0.0.1:1/", 1) });
        let sentence = error.unwrap_err().to_string();
        assert!(sentence.contains("--ca takes a file of certificates in PEM"), "{sentence}");
    }
}

/// The session holds little of what it decrypts, whatever the records are cut like.
#[test]
fn records_of_any_length_are_read_to_the_end() {
    for portion in [1_400, 6_000, 10_000, 12_000] {
        let body: Vec<u8> = (0..400_000_u32).map(|at| b'a' + (at % 23) as u8).collect();
        let (bytes, pause) = (reply(200, &body), std::time::Duration::ZERO);
        let steps = [Step::Request, Step::SendSplit { bytes, portion, pause }];
        let secure = secure(steps, After::Repeat);
        let record = run(&LoadSpec { expect: expect_body(body), ..trusting(&secure, 3) });
        assert_all_ok(&record, 3);
    }
}
