//! Where connections go.

use std::net::{Ipv6Addr, SocketAddr, TcpListener};

use squall_load::plan::{LoadPlan, PlanError};
use squall_load::run::{About, RunError, RunHandle};
use squall_load::spec::{Family, LoadSpec, NetworkSpec};
use squall_testkit::scripted::{After, Script, ScriptedServer, Step, closed_port, reply};

use crate::support::{answering, assert_all_ok, heads, load, request, run};

fn hello() -> Script {
    let steps = [Step::Request, Step::Send(reply(200, b"hello"))];
    Script::new().each_connection(steps).then(After::Repeat)
}

#[test]
fn a_unix_socket_is_a_place_too() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server.sock");
    let server = ScriptedServer::start_unix(&path, hello());
    let network = NetworkSpec { unix_socket: Some(path.clone()), ..NetworkSpec::default() };
    let record = run(&LoadSpec { network, connections: 2, ..load("http://app.test/x", 20) });
    assert_all_ok(&record, 20);
    assert_eq!(record.target.address, path.display().to_string());
    assert!(heads(&server.record())[0].contains("\r\nHost: app.test\r\n"));
}

#[test]
fn a_unix_socket_that_is_not_there_is_named_by_its_errno() {
    let network = NetworkSpec { unix_socket: Some("/nowhere/at.all".into()), ..Default::default() };
    let record = run(&LoadSpec { network, ..load("http://app.test/", 1) });
    assert_eq!(record.ledger.failures.connect["ENOENT"], 1);
    assert!(record.warnings.iter().any(|warning| warning.starts_with("ENOENT")));
}

/// The request still names the host of the URL.
#[test]
fn an_address_can_be_given_instead_of_the_host() {
    let server = answering(reply(200, b"hello"));
    let network = NetworkSpec { connect_to: Some(server.address()), ..NetworkSpec::default() };
    let record = run(&LoadSpec { network, ..load("http://far.invalid:81/", 3) });
    assert_all_ok(&record, 3);
    assert_eq!(record.target.address, server.address().to_string());
    assert!(heads(&server.record())[0].contains("\r\nHost: far.invalid:81\r\n"));
}

#[test]
fn an_ipv6_literal_is_loaded_and_named_in_brackets() {
    let local = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
    if TcpListener::bind(local).is_err() {
        return; // This machine has no IPv6.
    }
    let server = ScriptedServer::start_at(local, hello());
    let url = format!("http://[::1]:{}/", server.address().port());
    let record = run(&load(&url, 3));
    assert_all_ok(&record, 3);
    assert_eq!(record.target.address, server.address().to_string());
    let host = format!("\r\nHost: [::1]:{}\r\n", server.address().port());
    assert!(heads(&server.record())[0].contains(&host));
}

/// A name with two addresses, one of them dead: the other one is loaded, and named.
#[test]
fn the_first_address_that_takes_a_connection_is_chosen() {
    let server = answering(reply(200, b"hello"));
    let url = format!("http://localhost:{}/", server.address().port());
    let record = run(&load(&url, 3));
    assert_all_ok(&record, 3);
    assert_eq!(record.target.address, server.address().to_string());
}

#[test]
fn a_name_whose_addresses_are_all_dead_names_them() {
    let port = closed_port();
    let url = format!("http://localhost:{}/", port.address().port());
    let plan = LoadPlan::build(&load(&url, 1)).unwrap();
    if plan.endpoint.addresses.len() < 2 {
        return; // This machine's localhost has one address.
    }
    let ended =
        squall_load::run::run(&plan, &About::default(), &RunHandle::new(), &mut |_progress| {});
    let error = ended.unwrap_err();
    assert!(matches!(error, RunError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("127.0.0.1"), "{error}");
}

#[test]
fn a_name_without_an_address_of_the_family_is_refused() {
    let network = NetworkSpec { family: Family::V6, ..NetworkSpec::default() };
    let error = LoadPlan::build(&LoadSpec { network, ..load("http://127.0.0.1:1/", 1) });
    assert!(matches!(error, Err(PlanError::NoAddress { .. })), "{error:?}");
    let error = LoadPlan::build(&load("http://no-such-host.invalid/", 1)).unwrap_err();
    assert!(error.to_string().contains("cannot resolve \"no-such-host.invalid\""), "{error}");
}

#[test]
fn one_run_loads_one_server() {
    let spec = load("http://127.0.0.1:1/", 1);
    let requests = vec![request("http://127.0.0.1:1/"), request("http://127.0.0.1:2/")];
    let error = LoadPlan::build(&LoadSpec { requests, ..spec }).unwrap_err().to_string();
    assert!(error.contains("are different servers"), "{error}");
}
