//! A load to start from, and runs whose sums are held to each other.

use std::time::Duration;

use squall_load::plan::LoadPlan;
use squall_load::run::{About, RunHandle};
use squall_load::schedule::{Arrivals, Shape};
use squall_load::spec::{
    BodySpec, Expectations, Length, LoadSpec, NetworkSpec, RequestSpec, WarmUp,
};
use squall_stats::record::BenchRecord;
use squall_testkit::scripted::{After, Record, Script, ScriptedServer, Step};

pub(crate) const MS: u64 = 1_000_000;

/// `count` requests to `url` in a closed loop on one connection.
pub(crate) fn load(url: &str, count: u64) -> LoadSpec {
    LoadSpec {
        requests: vec![request(url)],
        headers: Vec::new(),
        body: BodySpec::None,
        http10: false,
        keep_alive: true,
        requests_per_connection: None,
        connections: 1,
        threads: Some(1),
        pipeline: 1,
        arrivals: None,
        seed: 1,
        length: Length::Requests(count),
        warm_up: WarmUp::None,
        expect: Expectations::default(),
        timeout: Duration::from_secs(2),
        connect_timeout: Duration::from_secs(2),
        follow: None,
        network: NetworkSpec::default(),
        pin: Vec::new(),
        server_pid: None,
    }
}

/// The method that is usual, and weight 1.
pub(crate) fn request(url: &str) -> RequestSpec {
    RequestSpec { method: None, url: url.to_owned(), weight: 1 }
}

pub(crate) fn ms(length: u64) -> Duration {
    Duration::from_millis(length)
}

/// So many arrivals a second, evenly spread.
pub(crate) fn constant(rate: f64) -> Option<Arrivals> {
    Some(Arrivals { shape: Shape::Constant, rate })
}

/// This body and no other passes.
pub(crate) fn expect_body(body: impl Into<Vec<u8>>) -> Expectations {
    Expectations { body: Some(body.into()), ..Expectations::default() }
}

/// Runs `spec` to its end.
pub(crate) fn run(spec: &LoadSpec) -> BenchRecord {
    run_with(spec, &RunHandle::new())
}

/// Runs `spec` until it ends or is ended.
pub(crate) fn run_with(spec: &LoadSpec, handle: &RunHandle) -> BenchRecord {
    let plan = LoadPlan::build(spec).unwrap();
    let record =
        squall_load::run::run(&plan, &About::default(), handle, &mut |_progress| {}).unwrap();
    check_sums(&record);
    record
}

/// What holds for every run.
fn check_sums(record: &BenchRecord) {
    let (ledger, warm_up) = (&record.ledger, &record.warm_up);
    ledger.check().unwrap();
    assert_eq!(warm_up.sent, warm_up.ok + warm_up.failed + warm_up.unanswered, "{warm_up:?}");
    let (latency, failures) = (&record.latency, &ledger.failures);
    assert_eq!(latency.response.count, ledger.ok, "{latency:?}");
    assert_eq!(latency.service.count, ledger.ok, "{latency:?}");
    assert_eq!(latency.failed.count, ledger.failed, "{latency:?}");
    let replies: u64 = record.status_codes.values().sum();
    assert_eq!(replies, ledger.ok + failures.status + failures.body, "{:?}", record.status_codes);
}

/// A server that answers every request with `bytes`, in one write.
pub(crate) fn answering(bytes: impl Into<Vec<u8>>) -> ScriptedServer {
    let steps = [Step::Request, Step::Send(bytes.into())];
    ScriptedServer::start(Script::new().each_connection(steps).then(After::Repeat))
}

/// A server that takes each connection through `steps` and closes it.
pub(crate) fn playing(steps: impl Into<Vec<Step>>) -> ScriptedServer {
    ScriptedServer::start(Script::new().each_connection(steps))
}

/// All requests that a server read, in its own words.
pub(crate) fn heads(record: &Record) -> Vec<String> {
    let requests = record.connections.iter().flat_map(|connection| &connection.requests);
    requests.map(|request| request.content.as_ref().unwrap().head_text()).collect()
}

/// The bodies of all requests that a server read.
pub(crate) fn bodies(record: &Record) -> Vec<Vec<u8>> {
    let requests = record.connections.iter().flat_map(|connection| &connection.requests);
    requests.map(|request| request.content.as_ref().unwrap().body.clone()).collect()
}

/// All requests passed, and so many.
pub(crate) fn assert_all_ok(record: &BenchRecord, count: u64) {
    let ledger = &record.ledger;
    assert_eq!((ledger.sent, ledger.ok, ledger.missed), (count, count, 0), "{ledger:?}");
}
