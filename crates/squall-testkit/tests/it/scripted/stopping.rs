//! The end of a server, whatever it was doing. A test that hangs has failed.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use squall_testkit::scripted::{
    After, Ending, Script, ScriptedServer, Service, ServiceTimes, Step,
};
use squall_testkit::wait::wait_until;

use super::support::{SOON, connect, get};

const HOUR: Duration = Duration::from_secs(3600);

/// Stops a server that plays `steps` to a client that sent a request and reads nothing.
fn check(steps: impl Into<Vec<Step>>, after: After) {
    check_server(ScriptedServer::start(Script::new().each_connection(steps).then(after)));
}

fn check_server(server: ScriptedServer) {
    let socket = connect(&server);
    (&socket).write_all(&get().encode("localhost")).unwrap();
    assert!(wait_until(SOON, || server.record().accepted() == 1));
    let record = server.stop();
    assert_eq!(record.connections[0].ending, Some(Ending::Stopped));
}

#[test]
fn stopping_cuts_every_step_short() {
    let flood = vec![0; 64 * 1024 * 1024];
    let slow = Step::SendSplit { bytes: b"abc".into(), portion: 1, pause: HOUR };
    check([Step::Stall], After::Close);
    check([Step::Wait(HOUR)], After::Close);
    check([Step::Wait(Duration::MAX)], After::Close);
    check([Step::Requests(2)], After::Close);
    check([Step::Drain], After::Close);
    check([Step::Send(flood)], After::Close);
    check([slow], After::Close);
    check([Step::Request], After::Stall);
    check([Step::Wait(Duration::ZERO)], After::Repeat);
    check([], After::Repeat);
    check_server(ScriptedServer::start(Script::new()));
    check_server(ScriptedServer::start_tls(Script::new().each_connection([Step::Stall])));
    let times = ServiceTimes::Constant(HOUR);
    check_server(ScriptedServer::serve(Service { times, ..Service::default() }));
    let reply = vec![0; 64 * 1024 * 1024];
    check_server(ScriptedServer::serve(Service { reply, ..Service::default() }));
}

#[test]
fn dropping_ends_a_crowd_of_stalled_connections() {
    let script = Script::new().each_connection([Step::Request, Step::Send(b"x".into())]);
    let server = ScriptedServer::start(script.then(After::Stall));
    let sockets: Vec<TcpStream> = (0..200).map(|_| connect(&server)).collect();
    for mut socket in &sockets {
        socket.write_all(&get().encode("localhost")).unwrap();
        assert_eq!(socket.read(&mut [0; 10]).unwrap(), 1);
    }
    assert_eq!((server.record().accepted(), server.record().open()), (200, 200));
    drop(server);
    for mut socket in &sockets {
        assert_eq!(socket.read(&mut [0; 10]).unwrap_or_default(), 0);
    }
}
