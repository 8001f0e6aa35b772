//! `https://`: who is trusted, and what a failure is called.

use std::path::PathBuf;

use squall_load::plan::{LoadPlan, PlanError};
use squall_load::spec::{BodySpec, LoadSpec, NetworkSpec};
use squall_testkit::scripted::{After, Script, ScriptedServer, Step, reply};
use tempfile::TempDir;

use crate::support::{answering, assert_all_ok, expect_body, load, ms, run};

/// A TLS server, the file with its authority, and the directory that holds it.
struct Secure {
    server: ScriptedServer,
    ca: PathBuf,
    _directory: TempDir,
}

fn secure(steps: impl Into<Vec<Step>>, after: After) -> Secure {
    let script = Script::new().each_connection(steps).then(after);
    let server = ScriptedServer::start_tls(script);
    let directory = tempfile::tempdir().unwrap();
    let ca = directory.path().join("ca.pem");
    std::fs::write(&ca, server.authority_pem().unwrap()).unwrap();
    Secure { server, ca, _directory: directory }
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
    assert_eq!(run(&spec).ledger.ok, 0);
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

/// The server never speaks TLS: it is told in words, and does not hang.
#[test]
fn a_plain_port_addressed_as_https_is_a_failure_of_tls() {
    let server = answering(reply(200, b"hello"));
    let url = server.url("/").replace("http://", "https://");
    let network = NetworkSpec { tls_insecure: true, ..NetworkSpec::default() };
    let record =
        run(&LoadSpec { network, connect_timeout: ms(300), timeout: ms(300), ..load(&url, 2) });
    let failures = &record.ledger.failures;
    assert_eq!(record.ledger.ok, 0);
    assert!(failures.tls + failures.connect.values().sum::<u64>() > 0, "{failures:?}");
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

impl Secure {
    /// The file of the authority, for longer than the server lives.
    fn ca_kept(self) -> PathBuf {
        let path = self._directory.keep().join("ca.pem");
        drop(self.server);
        path
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
