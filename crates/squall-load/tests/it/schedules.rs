//! Open loops: who arrives when, on the server's clock.

use squall_load::schedule::{Arrivals, Shape};
use squall_load::spec::{Length, LoadSpec, WarmUp};
use squall_stats::record::{BenchRecord, Limit, LoopKind};
use squall_testkit::scripted::{ScriptedServer, Service, Step, reply};

use crate::support::{MS, assert_all_ok, constant, load, ms, playing, run};

/// Runs `arrivals` for 500 ms, on more threads than one.
fn run_half_a_second(server: &ScriptedServer, arrivals: Option<Arrivals>) -> BenchRecord {
    run(&LoadSpec {
        connections: 8,
        threads: Some(2),
        arrivals,
        length: Length::Time(ms(500)),
        ..load(&server.url("/"), 1)
    })
}

/// When requests were read, in ns since the first one.
fn arrivals_ns(server: &ScriptedServer) -> Vec<u64> {
    let record = server.record();
    let requests = record.connections.iter().flat_map(|connection| &connection.requests);
    let mut times: Vec<u64> = requests.map(|request| request.read_at).collect();
    times.sort_unstable();
    let first = times[0];
    times.iter().map(|time| time - first).collect()
}

/// Half of them are on time even on a busy machine, to the last one: nothing drifts.
#[test]
fn requests_leave_when_the_schedule_says() {
    let server = ScriptedServer::serve(Service::default());
    let record = run_half_a_second(&server, constant(200.0));
    assert_all_ok(&record, 100);
    assert_eq!((record.load.loop_kind, record.summary.limit), (LoopKind::Open, Limit::Rate));
    let mut late: Vec<u64> = arrivals_ns(&server)
        .iter()
        .enumerate()
        .map(|(number, time)| time.abs_diff(5 * MS * number as u64))
        .collect();
    late.sort_unstable();
    assert!(late[50] < 100 * MS, "{late:?}");
    assert!(late[99] < 1_000 * MS, "{late:?}");
    assert_eq!(record.generator.lag.count, 100);
}

#[test]
fn a_ramp_sends_more_and_more() {
    let server = ScriptedServer::serve(Service::default());
    let shape = Shape::Ramp { from: 100.0, to: 700.0 };
    let record = run_half_a_second(&server, Some(Arrivals { shape, rate: 400.0 }));
    let ledger = &record.ledger;
    assert!((199..=201).contains(&ledger.scheduled), "{ledger:?}");
    assert_eq!((ledger.missed, ledger.ok), (0, ledger.sent));
    // The area under the ramp: 62 in its first half, 138 in its second.
    let early = arrivals_ns(&server).iter().filter(|time| **time < 250 * MS).count();
    assert!((40..85).contains(&early), "{early}");
}

/// Independent arrivals vary in number, but not from one run to the next with the same seed.
#[test]
fn poisson_arrivals_repeat_with_their_seed() {
    let server = ScriptedServer::serve(Service::default());
    let scheduled = |seed| {
        let record = run(&LoadSpec {
            connections: 4,
            threads: Some(2),
            seed,
            arrivals: Some(Arrivals { shape: Shape::Poisson, rate: 1_000.0 }),
            length: Length::Time(ms(200)),
            ..load(&server.url("/"), 1)
        });
        assert_all_ok(&record, record.ledger.scheduled);
        record.ledger.scheduled
    };
    let found = [scheduled(1), scheduled(1), scheduled(2), scheduled(3), scheduled(4)];
    assert_eq!(found[0], found[1]);
    assert!(found.iter().all(|count| (130..270).contains(count)), "{found:?}");
    assert!(found[1..].iter().any(|count| *count != found[0]), "{found:?}");
}

/// The server answers four at a time: a connection that was opened for a request takes those
/// behind it at once, not only after its first reply.
#[test]
fn a_connection_that_is_opened_for_an_arrival_takes_the_next_ones_too() {
    let four = Step::Send(reply(200, "ok").repeat(4));
    let server = playing([Step::Requests(4), four, Step::Drain]);
    let record = run(&LoadSpec {
        arrivals: constant(100.0),
        pipeline: 4,
        requests_per_connection: Some(4),
        ..load(&server.url("/"), 16)
    });
    assert_all_ok(&record, 16);
    assert_eq!(record.connections.opened, 4);
}

/// A connection that waits for its turn to be opened again does not get round it.
#[test]
fn a_server_that_cuts_every_pipeline_is_not_asked_at_the_rate_of_arrivals() {
    let server = playing([Step::Request, Step::Reset]);
    let record = run(&LoadSpec {
        arrivals: constant(400.0),
        pipeline: 4,
        length: Length::Time(ms(500)),
        timeout: ms(100),
        ..load(&server.url("/"), 1)
    });
    assert_eq!((record.ledger.scheduled, record.ledger.ok), (200, 0));
    assert!((2..16).contains(&record.connections.opened), "{:?}", record.connections);
}

/// The warm-up has arrivals of its own, which take nothing from the number that was asked for.
#[test]
fn a_number_of_arrivals_is_that_of_the_window() {
    let server = ScriptedServer::serve(Service::default());
    let record = run(&LoadSpec {
        connections: 4,
        threads: Some(2),
        arrivals: constant(1_000.0),
        warm_up: WarmUp::For(ms(100)),
        ..load(&server.url("/"), 50)
    });
    assert_all_ok(&record, 50);
    assert_eq!((record.warm_up.sent, record.warm_up.ok), (100, 100));
    assert_eq!(server.record().requests(), 150);
}
