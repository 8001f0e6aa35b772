//! Times: each request has its own, and a schedule waits for nobody.

use squall_load::spec::{Length, LoadSpec};
use squall_stats::record::BenchRecord;
use squall_testkit::scripted::{Pause, ScriptedServer, Service, ServiceTimes};

use crate::support::{MS, assert_all_ok, constant, load, ms, run};

fn serving(times: ServiceTimes, pauses: Option<Pause>) -> ScriptedServer {
    ScriptedServer::serve(Service { times, pauses, ..Service::default() })
}

fn each_takes(length_ms: u64) -> ScriptedServer {
    serving(ServiceTimes::Constant(ms(length_ms)), None)
}

/// A stop of the world, as of a garbage collection: nothing leaves for 200 ms of every second.
fn pausing(times: ServiceTimes) -> ScriptedServer {
    serving(times, Some(Pause { every: ms(1_000), length: ms(200) }))
}

/// Four batches of 16 replies, 10 ms apart: the k-th takes about 10·k ms. (A clock for the whole
/// batch, as wrk has it, would show the same time for all.)
#[test]
fn each_request_of_a_pipeline_has_its_own_time() {
    let server = each_takes(10);
    let record = run(&LoadSpec { pipeline: 16, ..load(&server.url("/"), 64) });
    assert_all_ok(&record, 64);
    let times = &record.latency.response;
    assert!((10 * MS..60 * MS).contains(&times.min.unwrap()), "{times:?}");
    assert!((70 * MS..140 * MS).contains(&times.p50.unwrap()), "{times:?}");
    assert!((160 * MS..400 * MS).contains(&times.max.unwrap()), "{times:?}");
    assert!((84e6..160e6).contains(&times.mean.unwrap()), "{times:?}");
    assert_eq!(record.latency.service, *times, "in a closed loop they are the same");
}

fn three_seconds(spec: LoadSpec) -> BenchRecord {
    run(&LoadSpec { length: Length::Time(ms(3_000)), ..spec })
}

/// One in five arrivals comes in a pause and waits for its end, whether it is sent or not.
#[test]
fn an_open_loop_shows_the_pauses_of_a_server() {
    let server = pausing(ServiceTimes::None);
    let arrivals = constant(1_000.0);
    let record = three_seconds(LoadSpec { connections: 4, arrivals, ..load(&server.url("/"), 1) });
    assert_all_ok(&record, 3_000);
    let (response, service) = (&record.latency.response, &record.latency.service);
    assert!(response.p99.unwrap() > 100 * MS, "{response:?}");
    assert!(response.max.unwrap() < 600 * MS, "{response:?}");
    // Four connections: of 3,000 requests only a dozen were on their way in a pause.
    assert!(service.p99.unwrap() < 50 * MS, "{service:?}");
    assert!(service.max.unwrap() > 150 * MS, "{service:?}");
}

/// What coordinated omission is: the loop stands still in a pause, so that three of some
/// thousand requests have seen one. The report says that the loop was closed.
#[test]
fn a_closed_loop_hides_the_pauses_of_a_server() {
    let server = pausing(ServiceTimes::Constant(ms(1)));
    let record = three_seconds(load(&server.url("/"), 1));
    let times = &record.latency.response;
    assert!(times.count > 1_000, "{times:?}");
    assert!(times.p99.unwrap() < 50 * MS, "{times:?}");
    assert!(times.max.unwrap() > 150 * MS, "{times:?}");
}

/// Sending goes on up to the time-out behind the window; what is left then was missed. Nothing
/// is dropped from the sums, and what was sent late says how late.
#[test]
fn an_overloaded_open_loop_counts_every_arrival() {
    let server = each_takes(10);
    let record = run(&LoadSpec {
        arrivals: constant(1_000.0),
        length: Length::Time(ms(1_000)),
        timeout: ms(500),
        ..load(&server.url("/"), 1)
    });
    let ledger = &record.ledger;
    assert_eq!(ledger.scheduled, 1_000);
    assert!(ledger.missed > 800, "{ledger:?}");
    assert!(ledger.sent > 50, "{ledger:?}");
    assert_eq!((ledger.failed, ledger.ok + ledger.unanswered), (0, ledger.sent), "{ledger:?}");
    assert!(ledger.unanswered <= 1, "{ledger:?}");
    // The last one left at about 1,500 ms, and was due at about as many ms as there were.
    let response = &record.latency.response;
    assert!((1_100 * MS..2_000 * MS).contains(&response.max.unwrap()), "{response:?}");
    assert!(record.latency.service.p50.unwrap() < 100 * MS, "{:?}", record.latency.service);
    assert!(record.warnings.iter().any(|warning| warning.contains("never sent")));
    assert!((0.4..1.0).contains(&record.window.drain_seconds), "{:?}", record.window);
    // Only what arrived inside the window is throughput.
    let rate = record.summary.verified_replies_per_second;
    assert!(rate < 101.0 && rate > 30.0, "{rate}");
}

/// Its time counts, but the window's rate is what the window has seen.
#[test]
fn a_reply_behind_the_window_counts_and_is_no_throughput() {
    let server = each_takes(300);
    let record = run(&LoadSpec {
        connections: 3,
        length: Length::Time(ms(100)),
        ..load(&server.url("/"), 1)
    });
    assert_all_ok(&record, 3);
    assert_eq!(record.summary.verified_replies_per_second, 0.0);
    assert!(record.latency.response.min.unwrap() >= 300 * MS, "{:?}", record.latency.response);
    assert!(record.window.drain_seconds > 0.15, "{:?}", record.window);
}

/// Requests that are late are sent one after the other, not thrown away: a server that stood
/// still has to work them off.
#[test]
fn an_open_loop_works_off_what_is_late() {
    let server = pausing(ServiceTimes::None);
    let record = run(&LoadSpec {
        arrivals: constant(500.0),
        length: Length::Time(ms(1_100)),
        pipeline: 8,
        ..load(&server.url("/"), 1)
    });
    assert_all_ok(&record, 550);
    assert_eq!(server.record().requests(), 550);
}
