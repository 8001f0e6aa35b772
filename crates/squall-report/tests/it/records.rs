//! Records of runs as they go, with numbers that fit together.

use std::collections::BTreeMap;

use squall_report::sentence;
use squall_stats::ledger::{Failures, Ledger};
use squall_stats::record::{
    BENCH_SCHEMA, BenchRecord, BodyRecord, BytesRecord, ConnectionsRecord, DeliveryRecord,
    FollowersRecord, GeneratorRecord, LatencyRecord, LatencySummary, Limit, LoadRecord, LoopKind,
    RequestRecord, ServerRecord, Summary, TargetRecord, WarmUpRecord, WindowRecord,
};

/// A server at its limit, loaded by a closed loop.
pub(crate) fn healthy() -> BenchRecord {
    with_sentence(BenchRecord {
        schema: BENCH_SCHEMA.to_owned(),
        squall: "0.1.0 (1a2b3c4)".to_owned(),
        started_at: "2026-03-01T12:00:00Z".to_owned(),
        target: TargetRecord {
            requests: vec![request("GET", "http://127.0.0.1:8080/", 0)],
            address: "127.0.0.1:8080".to_owned(),
            tls: false,
        },
        load: load(),
        window: WindowRecord {
            seconds: 10.0,
            warm_up_seconds: 0.0,
            drain_seconds: 0.004,
            interrupted: false,
        },
        summary: Summary {
            verified_replies_per_second: 38_411.7,
            limit: Limit::Server,
            sentence: String::new(),
        },
        ledger: ledger(384_181, 0, Failures::default()),
        warm_up: WarmUpRecord::default(),
        status_codes: BTreeMap::from([(200, 384_181)]),
        latency: LatencyRecord {
            response: times(384_181, 1_020_000),
            service: times(384_181, 1_020_000),
            failed: LatencySummary::default(),
            connect: times(64, 87_345),
        },
        connections: ConnectionsRecord {
            opened: 64,
            failed: BTreeMap::new(),
            reused: 384_117,
            closed_by_client: 64,
            closed_by_server: 0,
        },
        bytes: BytesRecord { sent: 29_197_756, received: 52_632_797 },
        body: Some(BodyRecord { bytes_min: 13, bytes_max: 13, bytes_mean: 13.0 }),
        followers: None,
        server: Some(server()),
        generator: generator(),
        warnings: Vec::new(),
    })
}

/// An open loop that asks for more than the server gives.
pub(crate) fn missed_arrivals() -> BenchRecord {
    let mut record = healthy();
    record.load.loop_kind = LoopKind::Open;
    record.load.arrivals = Some("poisson".to_owned());
    record.load.rate = Some(1000.0);
    record.load.connections = 8;
    record.window.warm_up_seconds = 2.0;
    record.window.drain_seconds = 1.3;
    record.warm_up =
        WarmUpRecord { sent: 1987, ok: 1987, steady: Some(true), ..WarmUpRecord::default() };
    record.summary.verified_replies_per_second = 809.9;
    record.ledger = ledger(8123, 3, Failures::default());
    record.ledger.missed = 1877;
    record.ledger.scheduled += 1877;
    record.status_codes = BTreeMap::from([(200, 8000), (304, 123)]);
    record.latency.response = times(8123, 412_000_000);
    record.latency.service = times(8123, 9_700_000);
    record.latency.connect = times(8, 87_345);
    record.body = Some(BodyRecord { bytes_min: 0, bytes_max: 20_000, bytes_mean: 19_697.2 });
    record.server = None;
    record.generator.lag = times(8126, 21_000);
    record.generator.ceiling_per_second = None;
    record.warnings = vec![
        "1,877 of 10,000 arrivals were missed: the connections were all waiting for replies. More \
         connections, or a lower rate, would tell more."
            .to_owned(),
    ];
    with_sentence(record)
}

/// Nobody listens on the port.
pub(crate) fn refused() -> BenchRecord {
    let mut record = healthy();
    record.window.seconds = 0.2;
    record.summary = Summary {
        verified_replies_per_second: 0.0,
        limit: Limit::Unknown,
        sentence: String::new(),
    };
    record.ledger = Ledger::default();
    record.status_codes = BTreeMap::new();
    record.latency = LatencyRecord {
        response: LatencySummary::default(),
        service: LatencySummary::default(),
        failed: LatencySummary::default(),
        connect: LatencySummary::default(),
    };
    record.connections = ConnectionsRecord {
        failed: BTreeMap::from([("ECONNREFUSED".to_owned(), 64)]),
        ..ConnectionsRecord::default()
    };
    record.bytes = BytesRecord::default();
    record.body = None;
    record.server = None;
    record.generator.busy_fraction = 0.0212;
    record.generator.cpu_per_request_ns = None;
    with_sentence(record)
}

/// The server answers every request with 500, and some not at all.
pub(crate) fn server_errors() -> BenchRecord {
    let mut record = healthy();
    record.summary.verified_replies_per_second = 0.0;
    record.summary.limit = Limit::Unknown;
    let failures = Failures { status: 9988, timeout: 12, ..Failures::default() };
    record.ledger = ledger(0, 0, failures);
    record.status_codes = BTreeMap::from([(500, 9988)]);
    record.latency.failed = times(10_000, 2_300_000);
    record.latency.response = LatencySummary::default();
    record.latency.service = LatencySummary::default();
    if let Some(server) = &mut record.server {
        server.cpu_per_reply_ns = None;
    }
    record.warnings = vec!["No reply passed its checks, so nothing was measured.".to_owned()];
    with_sentence(record)
}

/// Appends to a stream, and followers that receive them.
pub(crate) fn with_followers() -> BenchRecord {
    let mut record = healthy();
    record.target.requests = vec![request("POST", "http://127.0.0.1:8080/streams/orders", 100)];
    record.load = LoadRecord {
        loop_kind: LoopKind::Open,
        connections: 4,
        arrivals: Some("constant".to_owned()),
        rate: Some(50.0),
        followers: 1000,
        slow_followers: 10,
        ..record.load
    };
    record.summary.verified_replies_per_second = 50.0;
    record.summary.limit = Limit::Rate;
    record.ledger = ledger(500, 0, Failures::default());
    record.status_codes = BTreeMap::from([(204, 500)]);
    record.latency.response = times(500, 1_900_000);
    record.latency.service = times(500, 1_800_000);
    record.generator.lag = times(500, 30_000);
    record.body = Some(BodyRecord { bytes_min: 0, bytes_max: 0, bytes_mean: 0.0 });
    record.followers = Some(followers());
    with_sentence(record)
}

/// Every optional part is there, and every map has an entry.
pub(crate) fn full() -> BenchRecord {
    let mut record = with_followers();
    let failures = Failures {
        connect: BTreeMap::from([("ECONNRESET".to_owned(), 1), ("timeout".to_owned(), 2)]),
        tls: 3,
        reset: 4,
        closed: 5,
        truncated: 6,
        timeout: 7,
        status: 8,
        body: 9,
        framing: 10,
    };
    record.load.requests_per_connection = Some(1000);
    record.ledger = ledger(500, 11, failures);
    record.ledger.missed = 12;
    record.ledger.scheduled += 12;
    record.status_codes.extend([(200, 3), (400, 5), (503, 3)]);
    record.warm_up.steady = Some(false);
    record.connections.failed = BTreeMap::from([("ETIMEDOUT".to_owned(), 2)]);
    record.latency.failed = times(55, 2_300_000);
    record.generator.pinned_to = vec![1];
    if let Some(followers) = &mut record.followers {
        followers.failed = BTreeMap::from([("status 503".to_owned(), 3)]);
    }
    record.warnings = vec![
        "The connections were closed by the server after some requests; connecting again is part \
         of the response times."
            .to_owned(),
        "The clock of this machine is read by a system call.".to_owned(),
    ];
    with_sentence(record)
}

/// Fills in what the run says about itself.
pub(crate) fn with_sentence(mut record: BenchRecord) -> BenchRecord {
    record.summary.sentence = sentence(&record);
    record
}

/// A distribution around `median`, with percentiles only where there are samples for them.
pub(crate) fn times(count: u64, median: u64) -> LatencySummary {
    let percentile =
        |needed: u64, times_median: u64| (count >= needed).then_some(median * times_median / 100);
    LatencySummary {
        count,
        min: Some(median / 10),
        mean: Some(median as f64 * 1.118),
        p50: percentile(20, 100),
        p90: percentile(100, 181),
        p99: percentile(1000, 402),
        p999: percentile(10_000, 712),
        max: Some(median * 12),
    }
}

fn ledger(ok: u64, unanswered: u64, failures: Failures) -> Ledger {
    let failed = failures.total();
    let sent = ok + failed + unanswered;
    Ledger { scheduled: sent, missed: 0, sent, ok, failed, unanswered, failures }
}

fn request(method: &str, url: &str, body_bytes: u64) -> RequestRecord {
    RequestRecord { method: method.to_owned(), url: url.to_owned(), weight: 1, body_bytes }
}

fn load() -> LoadRecord {
    LoadRecord {
        loop_kind: LoopKind::Closed,
        connections: 64,
        threads: 1,
        pipeline: 1,
        keep_alive: true,
        requests_per_connection: None,
        arrivals: None,
        rate: None,
        seed: 42,
        followers: 0,
        slow_followers: 0,
        timeout_ns: 10_000_000_000,
        connect_timeout_ns: 3_000_000_000,
    }
}

fn server() -> ServerRecord {
    ServerRecord {
        pid: 4711,
        processes: 1,
        cpu_user_seconds: 4.12,
        cpu_system_seconds: 5.31,
        cpu_per_reply_ns: Some(24_545.3),
        cores: 0.943,
        rss_bytes_max: 24_117_248,
        threads: 5,
        voluntary_switches: 12_345,
        involuntary_switches: 678,
    }
}

fn generator() -> GeneratorRecord {
    GeneratorRecord {
        busy_fraction: 0.431,
        saturated: false,
        cpu_user_seconds: 0.92,
        cpu_system_seconds: 3.31,
        cpu_per_request_ns: Some(11_010.4),
        lag: LatencySummary::default(),
        pickup: times(400_000, 2_000),
        rss_bytes: 9_437_184,
        clock_ns: 21.3,
        ceiling_per_second: Some(88_000.0),
        pinned_to: Vec::new(),
    }
}

fn followers() -> FollowersRecord {
    FollowersRecord {
        asked: 1000,
        established: 1000,
        stopped: 0,
        failed: BTreeMap::new(),
        reconnects: 2,
        events: 499_998,
        comments: 1000,
        cut_events: 1,
        bytes: 71_303_168,
        events_per_second: 49_999.8,
        first_byte: times(1000, 2_100_000),
        first_event: times(1000, 21_000_000),
        first_match: LatencySummary::default(),
        gap: times(498_998, 20_000_000),
        delivery: Some(DeliveryRecord {
            appended: 500,
            delivered: 499_997,
            lost: 3,
            undelivered: 0,
            repeated: 1,
            reordered: 0,
            foreign: 0,
            time: times(499_997, 3_200_000),
        }),
    }
}
