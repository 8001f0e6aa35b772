//! What the followers of one thread saw.

use std::collections::BTreeMap;

use squall_stats::histogram::LatencyHistogram;
use squall_stats::record::{DeliveryRecord, FollowersRecord};

use super::tracker::{Appends, Tracker};

/// What followers saw, summed up.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) asked: u64,
    pub(crate) established: u64,
    pub(crate) stopped: u64,
    pub(crate) failed: BTreeMap<String, u64>,
    pub(crate) reconnects: u64,
    pub(crate) events: u64,
    pub(crate) events_in_window: u64,
    pub(crate) comments: u64,
    pub(crate) cut_events: u64,
    pub(crate) bytes: u64,
    pub(crate) first_byte: LatencyHistogram,
    pub(crate) first_event: LatencyHistogram,
    pub(crate) first_match: LatencyHistogram,
    pub(crate) gap: LatencyHistogram,
    pub(crate) delivery: LatencyHistogram,
    /// One for each follower that is to receive everything.
    pub(crate) trackers: Vec<Tracker>,
}

impl Seen {
    pub(crate) fn failed(&mut self, what: &str) {
        *self.failed.entry(what.to_owned()).or_default() += 1;
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.asked += other.asked;
        self.established += other.established;
        self.stopped += other.stopped;
        for (what, count) in other.failed {
            *self.failed.entry(what).or_default() += count;
        }
        self.reconnects += other.reconnects;
        self.events += other.events;
        self.events_in_window += other.events_in_window;
        self.comments += other.comments;
        self.cut_events += other.cut_events;
        self.bytes += other.bytes;
        self.first_byte.merge(&other.first_byte);
        self.first_event.merge(&other.first_event);
        self.first_match.merge(&other.first_match);
        self.gap.merge(&other.gap);
        self.delivery.merge(&other.delivery);
        self.trackers.extend(other.trackers);
    }

    /// The record, `acked` being the stamped appends of the run that were acknowledged.
    pub(crate) fn record(
        &self,
        window_seconds: f64,
        acked: Option<u64>,
        appends: &Appends,
    ) -> FollowersRecord {
        let events = self.events_in_window as f64;
        FollowersRecord {
            asked: self.asked,
            established: self.established,
            stopped: self.stopped,
            failed: self.failed.clone(),
            reconnects: self.reconnects,
            events: self.events,
            comments: self.comments,
            cut_events: self.cut_events,
            bytes: self.bytes,
            events_per_second: if window_seconds > 0.0 { events / window_seconds } else { 0.0 },
            first_byte: self.first_byte.summary(),
            first_event: self.first_event.summary(),
            first_match: self.first_match.summary(),
            gap: self.gap.summary(),
            delivery: self.delivery_record(acked, appends),
        }
    }

    fn delivery_record(&self, acked: Option<u64>, appends: &Appends) -> Option<DeliveryRecord> {
        let sum = |count: fn(&Tracker) -> u64| self.trackers.iter().map(count).sum::<u64>();
        let delivered = sum(|tracker| tracker.delivered);
        if acked.is_none() && delivered == 0 {
            return None;
        }
        Some(DeliveryRecord {
            appended: acked.unwrap_or(0),
            delivered,
            lost: self.trackers.iter().map(|tracker| tracker.lost(appends)).sum(),
            undelivered: self.trackers.iter().map(|tracker| tracker.undelivered(appends)).sum(),
            repeated: sum(|tracker| tracker.repeated),
            reordered: sum(|tracker| tracker.reordered),
            foreign: sum(|tracker| tracker.foreign),
            time: self.delivery.summary(),
        })
    }
}
