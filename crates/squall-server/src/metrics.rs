//! Metrics: what the server counts, as Prometheus reads it.

use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::encoding::text::encode as encode_registry;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use squall_stream::observer::Health;

use crate::context::Context;

/// All metrics as text. Names and meanings are part of the server's face.
pub(crate) fn encode(context: &Context) -> String {
    let snapshot = Snapshot::of(context);
    let mut registry = Registry::with_prefix("squall");
    registry.register_collector(Box::new(snapshot));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let written = encode_registry(&mut text, &registry);
    debug_assert!(written.is_ok());
    text
}

#[derive(Debug)]
struct Snapshot {
    counters: Vec<(&'static str, &'static str, u64)>,
    gauges: Vec<(&'static str, &'static str, Option<Unit>, u64)>,
}

impl Snapshot {
    fn of(context: &Context) -> Self {
        Self { counters: counters(context), gauges: gauges(context) }
    }
}

fn counters(context: &Context) -> Vec<(&'static str, &'static str, u64)> {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let own = &context.counters;
    let store = context.store.gauges();
    let [accepted, refused, cut] = context.door.totals();
    let requests = read(&own.requests);
    let hosts = read(&own.refused_hosts);
    let origins = read(&own.refused_origins);
    let follows = read(&own.follows);
    let followers = read(&own.refused_followers);
    let long_polls = read(&own.long_polls);
    let appends_refused = store.append_queue_refusals_total;
    let reads_refused = store.reader_queue_refusals_total;
    vec![
        ("requests", "Requests with a whole head", requests),
        ("host_refusals", "Requests for a foreign host", hosts),
        ("origin_refusals", "Unsafe requests of a foreign origin", origins),
        ("follows", "Follows begun", follows),
        ("follower_refusals", "Follows and long-polls over the limit", followers),
        ("long_polls", "Long-polls begun", long_polls),
        ("connections_accepted", "Connections accepted", accepted),
        ("connection_refusals", "Connections over the limit", refused),
        ("connections_cut", "Connections cut at a deadline", cut),
        ("append_queue_refusals", "Appends refused by a full queue", appends_refused),
        ("append_batches", "Transactions committed for changes", store.batches_total),
        ("append_batch_changes", "Changes in those transactions", store.batched_changes_total),
        ("appended_events", "Events appended", store.appended_events_total),
        ("appended_bytes", "Payload bytes appended", store.appended_bytes_total),
        ("reader_queue_refusals", "Reads refused by a full queue", reads_refused),
        ("checkpoints", "Checkpoints of the write-ahead log", store.checkpoints_total),
    ]
}

fn gauges(context: &Context) -> Vec<(&'static str, &'static str, Option<Unit>, u64)> {
    let store = context.store.gauges();
    let ready = !context.is_draining() && context.store.health() == Health::Ready;
    let connections = context.door.connections().count() as u64;
    let followers = context.hub.followers() as u64;
    let rings = context.hub.rings() as u64;
    let ring_bytes = context.hub.ring_bytes() as u64;
    let body_bytes = context.bodies.bytes() as u64;
    let reads = store.reader_queue_length;
    let bytes = || Some(Unit::Bytes);
    vec![
        ("ready", "Whether appends are taken", None, u64::from(ready)),
        ("connections", "Open connections", None, connections),
        ("followers", "Open follows and waiting long-polls", None, followers),
        ("rings", "Followed streams", None, rings),
        ("ring", "Recent events of followed streams", bytes(), ring_bytes),
        ("request_bodies", "Request bodies in memory", bytes(), body_bytes),
        ("append_queue_length", "Changes that wait for a commit", None, store.append_queue_length),
        ("append_queue", "Payload that waits for a commit", bytes(), store.append_queue_bytes),
        ("reader_queue_length", "Reads that wait for a reader", None, reads),
        ("wal", "Size of the write-ahead log", bytes(), store.wal_bytes),
        ("cached_streams", "Stream states in memory", None, store.cached_streams),
        ("newest_cache", "Newest events in memory", bytes(), store.newest_cache_bytes),
    ]
}

impl prometheus_client::collector::Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        for (name, help, value) in &self.counters {
            let metric = ConstCounter::new(*value);
            let described = encoder.encode_descriptor(name, help, None, metric.metric_type())?;
            metric.encode(described)?;
        }
        for (name, help, unit, value) in &self.gauges {
            // Gauges are signed; what we count stays far below the sign.
            let metric = ConstGauge::new(i64::try_from(*value).unwrap_or(i64::MAX));
            let described =
                encoder.encode_descriptor(name, help, unit.as_ref(), metric.metric_type())?;
            metric.encode(described)?;
        }
        Ok(())
    }
}
