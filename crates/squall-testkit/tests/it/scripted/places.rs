//! TLS, Unix sockets, and addresses where nobody is.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use squall_testkit::http::{Request, call};
use squall_testkit::scripted::{
    After, Ending, Script, ScriptedServer, Service, Step, closed_port, reply,
};

use super::support::{connect, get, wait_for_end};

type TlsStream = StreamOwned<ClientConnection, TcpStream>;

fn connect_tls(server: &ScriptedServer, name: &'static str) -> TlsStream {
    let authority = CertificateDer::from_pem_slice(server.authority_pem().unwrap().as_bytes());
    let mut roots = RootCertStore::empty();
    roots.add(authority.unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name).unwrap();
    let session = ClientConnection::new(Arc::new(config), name).unwrap();
    StreamOwned::new(session, connect(server))
}

fn ok() -> Vec<u8> {
    reply(200, "ok")
}

#[test]
fn a_script_plays_behind_tls() {
    let long = reply(200, vec![b'x'; 1_000_000]);
    let steps = [Step::Request, Step::Send(long.clone()), Step::Requests(2), Step::Echo];
    let server = ScriptedServer::start_tls(Script::new().each_connection(steps));
    assert!(server.url("/x").starts_with("https://127.0.0.1:"));
    for (index, name) in ["localhost", "127.0.0.1"].into_iter().enumerate() {
        let mut stream = connect_tls(&server, name);
        stream.write_all(&get().encode("localhost")).unwrap();
        let mut received = vec![0; long.len()];
        stream.read_exact(&mut received).unwrap();
        assert_eq!(received, long);
        stream.write_all(&get().encode("localhost").repeat(2)).unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap(); // An end without a farewell would be an error.
        assert_eq!(rest, reply(200, ""));
        let record = server.record().connections[index].clone();
        assert_eq!((record.requests_read, record.replies_sent), (3, 3));
        assert_eq!(record.ending, Some(Ending::ScriptClosed));
    }
}

/// A server that speaks first must lead the handshake too.
#[test]
fn a_script_behind_tls_may_speak_first() {
    let script = Script::new().each_connection([Step::Send(b"first".into())]);
    let server = ScriptedServer::start_tls(script);
    let mut text = String::new();
    connect_tls(&server, "localhost").read_to_string(&mut text).unwrap();
    assert_eq!(text, "first");
}

#[test]
fn a_service_works_behind_tls() {
    let server = ScriptedServer::start_tls(Service { reply: ok(), ..Service::default() });
    let mut stream = connect_tls(&server, "localhost");
    for _ in 0..10 {
        stream.write_all(&get().encode("localhost")).unwrap();
        let mut received = vec![0; ok().len()];
        stream.read_exact(&mut received).unwrap();
        assert_eq!(received, ok());
    }
    drop(stream);
    assert_eq!(wait_for_end(&server, 0), Ending::ClientClosed);
}

/// One record of TLS holds less than the request, and one read takes more than a record.
#[test]
fn long_requests_are_read_behind_tls() {
    let server = ScriptedServer::start_tls(Service { reply: ok(), ..Service::default() });
    let mut stream = connect_tls(&server, "localhost");
    let request = Request::new("POST", "/").body(vec![b'x'; 300_000]).encode("localhost");
    for _ in 0..5 {
        stream.write_all(&request).unwrap();
        let mut received = vec![0; ok().len()];
        stream.read_exact(&mut received).unwrap();
    }
    assert_eq!(server.record().replies(), 5);
}

#[test]
fn a_client_that_speaks_no_tls_fails_to_shake_hands() {
    let script = Script::new().each_connection([Step::Request]);
    let server = ScriptedServer::start_tls(script);
    (&connect(&server)).write_all(&get().encode("localhost")).unwrap();
    assert!(matches!(wait_for_end(&server, 0), Ending::Failed(_)));
}

#[test]
fn a_script_plays_on_a_unix_socket_that_goes_with_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let script = Script::new().each_connection([Step::Request, Step::Send(ok())]);
    let server = ScriptedServer::start_unix(&path, script);
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(&get().encode("localhost")).unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    assert_eq!(received, ok());
    assert_eq!(server.stop().replies(), 1);
    assert!(!path.exists());
}

#[test]
fn a_deaf_server_lets_nobody_in() {
    let server = ScriptedServer::deaf();
    let limit = Duration::from_millis(200);
    let error = TcpStream::connect_timeout(&server.address(), limit).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
}

#[test]
fn a_closed_port_refuses() {
    let port = closed_port();
    for _ in 0..3 {
        let error = TcpStream::connect(port.address()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    }
}

#[test]
fn a_server_comes_back_where_it_was() {
    let script = || Script::new().each_connection([Step::Request, Step::Send(ok())]);
    let server = ScriptedServer::start(script().then(After::Repeat));
    let address = server.address();
    assert_eq!(call(address, &get()).unwrap().text(), "ok");
    server.stop();
    assert!(call(address, &get()).is_err());
    let server = ScriptedServer::start_at(address, script());
    assert_eq!(call(address, &get()).unwrap().text(), "ok");
    assert_eq!(server.record().accepted(), 1);
}
