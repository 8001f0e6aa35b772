//! Servers that do not answer, or are not there.

use std::thread;
use std::time::{Duration, Instant};

use squall_load::spec::{Length, LoadSpec};
use squall_stats::ledger::Failures;
use squall_stats::record::{BenchRecord, Limit};
use squall_testkit::scripted::{Script, ScriptedServer, Service, Step, closed_port, reply};
use squall_testkit::wait::wait_until;

use crate::support::{MS, constant, load, ms, run};

/// A run that nobody answers is over long before this.
const FAST: Duration = Duration::from_secs(5);

/// Every connection loses one request after the other, and no more of them at a time.
#[test]
fn a_server_that_never_replies_costs_one_time_out_after_the_other() {
    let server = ScriptedServer::start(Script::new());
    let run_for = |length| {
        let timeout = ms(200);
        let record =
            run(&LoadSpec { connections: 4, length, timeout, ..load(&server.url("/"), 1) });
        let expected = Failures { timeout: record.ledger.sent, ..Failures::default() };
        assert_eq!((record.ledger.ok, &record.ledger.failures), (0, &expected));
        let failed = &record.latency.failed;
        assert!(failed.min.unwrap() >= 200 * MS, "{failed:?}");
        assert!(failed.max.unwrap() < 600 * MS, "{failed:?}");
        assert_eq!(record.connections.closed_by_client, record.connections.opened);
        assert!(record.body.is_none() && record.status_codes.is_empty());
        record.ledger.sent
    };
    // A busy machine is late four times over, and then there is one less on each.
    let sent = run_for(Length::Time(ms(1_000)));
    assert!(sent == 20 || (12..20).contains(&sent) && sent % 4 == 0, "{sent}");
    assert_eq!(run_for(Length::Requests(8)), 8);
}

/// The time-out is that of the whole reply: a byte now and then does not put it off.
#[test]
fn a_reply_that_drips_times_out() {
    let bytes = reply(200, "x".repeat(1_000));
    let drip = Step::SendSplit { bytes, portion: 10, pause: ms(20) };
    let server = ScriptedServer::start(Script::new().each_connection([Step::Request, drip]));
    let record = run(&LoadSpec { timeout: ms(150), ..load(&server.url("/"), 2) });
    assert_eq!(record.ledger.failures, Failures { timeout: 2, ..Failures::default() });
    assert!(record.latency.failed.max.unwrap() < 600 * MS, "{:?}", record.latency.failed);
}

/// The connection is of no use to those behind the one that is late.
#[test]
fn a_pipeline_that_stalls_times_out_as_a_whole() {
    let steps = [Step::Requests(4), Step::Send(reply(200, "ok")), Step::Stall];
    let server = ScriptedServer::start(Script::new().each_connection(steps));
    let record = run(&LoadSpec { pipeline: 4, timeout: ms(150), ..load(&server.url("/"), 8) });
    let expected = Failures { timeout: 6, ..Failures::default() };
    assert_eq!((record.ledger.ok, &record.ledger.failures), (2, &expected));
    assert_eq!(record.connections.opened, 2);
}

/// A server that goes away in the middle of a run ends it with what it did until then.
#[test]
fn a_server_that_goes_away_leaves_what_it_did() {
    let server = ScriptedServer::serve(Service::default());
    let spec =
        LoadSpec { connections: 2, length: Length::Time(ms(600)), ..load(&server.url("/"), 1) };
    let record = thread::scope(|scope| {
        let end = scope.spawn(|| {
            assert!(wait_until(FAST, || server.record().replies() > 100));
            server.stop().replies()
        });
        let record = run(&spec);
        assert_eq!(record.ledger.ok, end.join().unwrap());
        record
    });
    let failures = &record.ledger.failures;
    let cut = failures.closed + failures.reset + failures.truncated;
    // Two that were open, and those that the kernel had accepted for a server that was going.
    assert!(cut <= 6, "{failures:?}");
    assert!(failures.connect["ECONNREFUSED"] > 0, "{failures:?}");
    let not_opened: u64 = failures.connect.values().sum();
    assert_eq!(not_opened + cut, record.ledger.failed, "{failures:?}");
}

/// The schedule goes on: what cannot be sent is missed, not forgotten.
#[test]
fn a_server_that_never_replies_misses_the_arrivals_of_an_open_loop() {
    let server = ScriptedServer::start(Script::new());
    let record = run(&LoadSpec {
        connections: 2,
        arrivals: constant(100.0),
        length: Length::Time(ms(500)),
        timeout: ms(200),
        ..load(&server.url("/"), 1)
    });
    let ledger = &record.ledger;
    assert_eq!((ledger.scheduled, ledger.ok), (50, 0));
    assert!((4..=10).contains(&ledger.sent), "{ledger:?}");
    assert_eq!(ledger.failures.timeout + ledger.unanswered, ledger.sent);
}

fn run_timed(spec: &LoadSpec) -> BenchRecord {
    let before = Instant::now();
    let record = run(spec);
    assert!(before.elapsed() < FAST, "{:?}", before.elapsed());
    assert_eq!((record.ledger.ok, record.summary.limit), (0, Limit::Unknown));
    record
}

/// There is nothing to wait for, however long the window was to be.
#[test]
fn a_port_where_nobody_listens_ends_the_run_with_its_reason() {
    let port = closed_port();
    let ten_minutes = Length::Time(Duration::from_secs(600));
    let once = load(&port.url("/"), 1_000_000);
    let loads = [
        once.clone(),
        LoadSpec { length: ten_minutes, ..once.clone() },
        LoadSpec { length: ten_minutes, keep_alive: false, ..once.clone() },
        LoadSpec { length: ten_minutes, arrivals: constant(10.0), ..once.clone() },
        LoadSpec { length: ten_minutes, connections: 8, threads: Some(2), ..once.clone() },
    ];
    for spec in loads {
        let record = run_timed(&spec);
        let ledger = &record.ledger;
        assert!(ledger.failures.connect["ECONNREFUSED"] > 0, "{ledger:?}");
        assert_eq!(ledger.failures.connect["ECONNREFUSED"], ledger.sent, "{ledger:?}");
        assert!(record.connections.failed["ECONNREFUSED"] >= ledger.sent);
        assert_eq!(record.connections.opened, 0);
        let is_said = record.warnings.iter().any(|warning| warning.contains("ECONNREFUSED"));
        assert!(is_said, "{:?}", record.warnings);
    }
}

#[test]
fn a_server_that_takes_no_connection_times_out_while_connecting() {
    let server = ScriptedServer::deaf();
    let record = run_timed(&LoadSpec {
        connections: 2,
        length: Length::Time(Duration::from_secs(600)),
        connect_timeout: ms(200),
        ..load(&server.url("/"), 1)
    });
    let failures = &record.ledger.failures;
    assert_eq!(failures.connect["timeout"], record.ledger.sent, "{failures:?}");
    assert!(record.ledger.sent >= 2, "{:?}", record.ledger);
    assert!(record.latency.failed.min.unwrap() >= 200 * MS, "{:?}", record.latency.failed);
}
