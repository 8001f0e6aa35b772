//! A record with a value in every place.

use std::collections::BTreeMap;

use squall_stats::histogram::LatencyHistogram;
use squall_stats::ledger::{Failure, Failures, Ledger};
use squall_stats::record::{
    BENCH_SCHEMA, BenchRecord, BodyRecord, BytesRecord, ConnectionsRecord, DeliveryRecord,
    FollowersRecord, GeneratorRecord, LatencyRecord, LatencySummary, Limit, LoadRecord, LoopKind,
    RequestRecord, ServerRecord, Summary, TargetRecord, WarmUpRecord, WindowRecord,
};

/// 1,000 requests: 980 were verified and took 0.1 ms to 98 ms, 15 failed and 5 stayed unanswered.
/// 1,024 had been scheduled.
pub(crate) fn record() -> BenchRecord {
    BenchRecord {
        schema: BENCH_SCHEMA.to_owned(),
        squall: "0.1.0 (0123abc)".to_owned(),
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        target: target(),
        load: load(),
        window: WindowRecord {
            seconds: 10.0,
            warm_up_seconds: 2.5,
            drain_seconds: 0.25,
            interrupted: false,
        },
        summary: Summary {
            verified_replies_per_second: 98.0,
            limit: Limit::Server,
            sentence: "98 verified replies/s.".to_owned(),
        },
        ledger: ledger(),
        warm_up: WarmUpRecord { sent: 20, ok: 18, failed: 1, unanswered: 1, steady: Some(true) },
        status_codes: BTreeMap::from([(200, 980), (503, 10)]),
        latency: LatencyRecord {
            response: times(980, 100_000),
            service: times(980, 50_000),
            failed: times(15, 1_000),
            connect: times(64, 10_000),
        },
        connections: ConnectionsRecord {
            opened: 64,
            failed: BTreeMap::from([("ECONNREFUSED".to_owned(), 5)]),
            reused: 936,
            closed_by_client: 3,
            closed_by_server: 1,
        },
        bytes: BytesRecord { sent: 40_000, received: 120_000 },
        body: Some(BodyRecord { bytes_min: 0, bytes_max: 13, bytes_mean: 12.5 }),
        followers: Some(followers()),
        server: Some(server()),
        generator: generator(),
        warnings: vec!["5 requests were unanswered.".to_owned()],
    }
}

/// `count` times: the unit, twice the unit, and so on.
fn times(count: u64, unit_ns: u64) -> LatencySummary {
    let mut histogram = LatencyHistogram::new();
    (1..=count).for_each(|factor| histogram.record(factor * unit_ns));
    histogram.summary()
}

fn ledger() -> Ledger {
    let mut failures = Failures::default();
    (0..5).for_each(|_| failures.record(Failure::Connect("ECONNREFUSED")));
    (0..10).for_each(|_| failures.record(Failure::Status));
    Ledger {
        scheduled: 1_024,
        missed: 24,
        sent: 1_000,
        ok: 980,
        failed: 15,
        unanswered: 5,
        failures,
    }
}

fn target() -> TargetRecord {
    TargetRecord {
        requests: vec![RequestRecord {
            method: "POST".to_owned(),
            url: "http://127.0.0.1:8080/".to_owned(),
            weight: 1,
            body_bytes: 100,
        }],
        address: "127.0.0.1:8080".to_owned(),
        tls: false,
    }
}

fn load() -> LoadRecord {
    LoadRecord {
        loop_kind: LoopKind::Open,
        connections: 64,
        threads: 1,
        pipeline: 1,
        keep_alive: true,
        requests_per_connection: None,
        arrivals: Some("constant".to_owned()),
        rate: Some(102.4),
        seed: u64::MAX,
        followers: 10,
        slow_followers: 1,
        timeout_ns: 10_000_000_000,
        connect_timeout_ns: 5_000_000_000,
    }
}

fn followers() -> FollowersRecord {
    FollowersRecord {
        asked: 10,
        established: 10,
        stopped: 1,
        failed: BTreeMap::from([("status 503".to_owned(), 2)]),
        reconnects: 2,
        events: 9_801,
        comments: 7,
        cut_events: 1,
        bytes: 1_000_000,
        events_per_second: 980.0,
        first_byte: times(10, 1_000),
        first_event: times(10, 2_000),
        first_match: times(10, 3_000),
        gap: times(9_790, 100),
        delivery: Some(DeliveryRecord {
            appended: 980,
            delivered: 9_801,
            lost: 3,
            undelivered: 0,
            repeated: 4,
            reordered: 5,
            foreign: 6,
            time: times(9_801, 1_000),
        }),
    }
}

fn server() -> ServerRecord {
    ServerRecord {
        pid: 4_711,
        processes: 2,
        cpu_user_seconds: 1.5,
        cpu_system_seconds: 0.75,
        cpu_per_reply_ns: Some(2_295_918.5),
        cores: 0.225,
        rss_bytes_max: 1 << 24,
        threads: 5,
        voluntary_switches: 2_000,
        involuntary_switches: 30,
    }
}

fn generator() -> GeneratorRecord {
    GeneratorRecord {
        busy_fraction: 0.125,
        saturated: false,
        cpu_user_seconds: 0.5,
        cpu_system_seconds: 0.5,
        cpu_per_request_ns: Some(1e6),
        lag: times(1_000, 10),
        pickup: times(1_000, 20),
        rss_bytes: 1 << 23,
        clock_ns: 21.5,
        ceiling_per_second: Some(88_000.0),
        pinned_to: vec![1],
    }
}
