//! Runs that somebody ends.

use std::thread;
use std::time::{Duration, Instant};

use squall_load::run::RunHandle;
use squall_load::spec::{Length, LoadSpec, WarmUp};
use squall_stats::record::BenchRecord;
use squall_testkit::scripted::{Script, ScriptedServer, Service};
use squall_testkit::wait::wait_until;

use crate::support::{constant, load, ms, run_with};

/// Nothing here takes that long, and every window is longer.
const LIMIT: Duration = Duration::from_secs(10);

/// An hour of load.
fn hour(server: &ScriptedServer) -> LoadSpec {
    LoadSpec {
        connections: 2,
        threads: Some(2),
        length: Length::Time(Duration::from_secs(3_600)),
        ..load(&server.url("/"), 1)
    }
}

/// Runs `spec` and does `end` once the server has read `requests`.
fn end_after(
    requests: u64,
    server: &ScriptedServer,
    spec: &LoadSpec,
    end: impl FnOnce(&RunHandle) + Send,
) -> BenchRecord {
    let handle = RunHandle::new();
    let before = Instant::now();
    let record = thread::scope(|scope| {
        scope.spawn(|| {
            assert!(wait_until(LIMIT, || server.record().requests() >= requests));
            end(&handle);
        });
        run_with(spec, &handle)
    });
    assert!(before.elapsed() < LIMIT, "{:?}", before.elapsed());
    assert!(record.window.interrupted);
    assert!(record.window.seconds < LIMIT.as_secs_f64(), "{:?}", record.window);
    record
}

#[test]
fn a_window_that_is_ended_is_reported_as_it_was() {
    let server = ScriptedServer::serve(Service::default());
    let record = end_after(500, &server, &hour(&server), RunHandle::end_window);
    assert_eq!((record.ledger.failed, record.ledger.unanswered), (0, 0));
    assert_eq!(record.ledger.ok, server.record().replies());
    assert!(record.summary.verified_replies_per_second > 0.0);
}

/// The rest of the hour was never scheduled.
#[test]
fn an_open_loop_that_is_ended_schedules_nothing_beyond() {
    let server = ScriptedServer::serve(Service::default());
    let spec = LoadSpec { arrivals: constant(1_000.0), ..hour(&server) };
    let record = end_after(200, &server, &spec, RunHandle::end_window);
    let ledger = &record.ledger;
    assert_eq!((ledger.missed, ledger.ok), (0, ledger.scheduled), "{ledger:?}");
    let expected = record.window.seconds * 1_000.0;
    assert!((ledger.scheduled as f64 - expected).abs() < 3.0, "{ledger:?}, {expected}");
}

#[test]
fn a_number_of_requests_that_is_ended_is_fewer() {
    let server = ScriptedServer::serve(Service::default());
    let spec = LoadSpec { length: Length::Requests(1_000_000_000), ..hour(&server) };
    let record = end_after(500, &server, &spec, RunHandle::end_window);
    assert_eq!(record.ledger.sent, record.ledger.ok);
    assert_eq!(record.ledger.ok, server.record().replies());
}

/// Nothing is known of what was on its way, so it neither passed nor failed.
#[test]
fn a_run_that_is_stopped_ends_at_once_and_counts_what_was_on_its_way() {
    let server = ScriptedServer::start(Script::new());
    let handle = RunHandle::new();
    let spec = LoadSpec { pipeline: 4, timeout: Duration::from_secs(60), ..hour(&server) };
    let before = Instant::now();
    let record = thread::scope(|scope| {
        scope.spawn(|| {
            assert!(wait_until(LIMIT, || server.record().accepted() == 2));
            // Long enough for the load to begin; the window has no end in sight.
            squall_testkit::wait::pause(ms(100));
            handle.stop_now();
        });
        run_with(&spec, &handle)
    });
    assert!(before.elapsed() < LIMIT, "{:?}", before.elapsed());
    let ledger = &record.ledger;
    assert_eq!((ledger.sent, ledger.unanswered, ledger.ok), (8, 8, 0), "{ledger:?}");
    assert!(record.window.interrupted);
}

#[test]
fn an_open_loop_that_is_stopped_schedules_nothing_beyond() {
    let server = ScriptedServer::serve(Service::default());
    let spec = LoadSpec { arrivals: constant(1_000.0), ..hour(&server) };
    for _ in 0..5 {
        let already = server.record().requests();
        let record = end_after(already + 50, &server, &spec, RunHandle::stop_now);
        let ledger = &record.ledger;
        let expected = record.window.seconds * 1_000.0;
        // A thread may be about to send when it is stopped.
        assert!((ledger.scheduled as f64 - expected).abs() < 100.0, "{ledger:?}, {expected}");
    }
}

/// First the window, then, as it takes too long, the run: as with two signals.
#[test]
fn a_drain_that_takes_too_long_is_stopped() {
    let server = ScriptedServer::start(Script::new());
    let handle = RunHandle::new();
    let spec = LoadSpec {
        length: Length::Time(ms(50)),
        timeout: Duration::from_secs(60),
        ..hour(&server)
    };
    let before = Instant::now();
    let record = thread::scope(|scope| {
        scope.spawn(|| {
            assert!(wait_until(LIMIT, || server.record().accepted() == 2));
            squall_testkit::wait::pause(ms(200));
            handle.stop_now();
        });
        run_with(&spec, &handle)
    });
    assert!(before.elapsed() < LIMIT, "{:?}", before.elapsed());
    assert_eq!(record.ledger.unanswered, 2, "{:?}", record.ledger);
    assert!(!record.window.interrupted, "the window had its length");
}

#[test]
fn a_run_that_is_ended_in_its_warm_up_measured_nothing() {
    let server = ScriptedServer::serve(Service::default());
    for arrivals in [None, constant(1_000.0)] {
        for end in [RunHandle::end_window, RunHandle::stop_now] {
            let warm_up = WarmUp::For(Duration::from_secs(3_600));
            let spec = LoadSpec { warm_up, arrivals, ..hour(&server) };
            let already = server.record().requests();
            let record = end_after(already + 100, &server, &spec, end);
            assert_eq!(record.ledger.scheduled, 0, "{:?}", record.ledger);
            assert!(record.warm_up.ok >= 90, "{:?}", record.warm_up);
            assert_eq!(record.summary.verified_replies_per_second, 0.0);
        }
    }
}

#[test]
fn a_run_that_is_ended_before_it_begins_has_a_record_too() {
    let server = ScriptedServer::serve(Service::default());
    for end in [RunHandle::end_window, RunHandle::stop_now] {
        let handle = RunHandle::new();
        end(&handle);
        let record = run_with(&hour(&server), &handle);
        assert_eq!(record.ledger.scheduled, 0, "{:?}", record.ledger);
        assert!(record.window.seconds < 1.0, "{:?}", record.window);
        assert!(record.window.interrupted);
    }
}
