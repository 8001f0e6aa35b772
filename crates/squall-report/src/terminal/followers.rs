//! What followers saw.

use squall_stats::record::{DeliveryRecord, FollowersRecord};

use super::screen::{KINDS_MAX, Screen, Tone};
use super::times::{if_any, write_table};
use crate::text;

pub(super) fn write(screen: &mut Screen, followers: &FollowersRecord) {
    let missing = followers.established < followers.asked;
    let tone = if missing { Tone::Failure } else { Tone::Normal };
    screen.field("followers", &established(followers), tone);
    if !followers.failed.is_empty() {
        let failed = text::kinds(&followers.failed, KINDS_MAX).join(", ");
        screen.field("not followed", &failed, Tone::Failure);
    }
    screen.field("events", &events(followers), Tone::Normal);
    if let Some(delivery) = &followers.delivery {
        write_delivery(screen, delivery);
    }
    write_times(screen, followers);
}

fn established(followers: &FollowersRecord) -> String {
    let mut text = format!(
        "{} established of {} asked for, {}",
        text::count(followers.established),
        text::count(followers.asked),
        text::counted(followers.reconnects, "reconnect", "reconnects"),
    );
    if followers.stopped > 0 {
        text.push_str(&format!(", {} told to stop by 204", text::count(followers.stopped)));
    }
    text
}

fn events(followers: &FollowersRecord) -> String {
    let mut text = format!(
        "{} received ({}/s), {}, {}",
        text::count(followers.events),
        text::per_second(followers.events_per_second),
        text::counted(followers.comments, "comment", "comments"),
        text::bytes(followers.bytes),
    );
    if followers.cut_events > 0 {
        text.push_str(&format!(", {} cut off", text::count(followers.cut_events)));
    }
    text
}

fn write_delivery(screen: &mut Screen, delivery: &DeliveryRecord) {
    let wrong = [delivery.lost, delivery.undelivered, delivery.repeated, delivery.reordered];
    let is_whole = wrong.iter().all(|number| *number == 0);
    let mut text = format!(
        "{} appended, {} delivered; {} lost, {} repeated, {} reordered",
        text::count(delivery.appended),
        text::count(delivery.delivered),
        text::count(delivery.lost),
        text::count(delivery.repeated),
        text::count(delivery.reordered),
    );
    if delivery.undelivered > 0 {
        let number = text::count(delivery.undelivered);
        text.push_str(&format!("; {number} not delivered when the run ended"));
    }
    if delivery.foreign > 0 {
        text.push_str(&format!("; {} of other publishers", text::count(delivery.foreign)));
    }
    screen.field("delivery", &text, if is_whole { Tone::Normal } else { Tone::Failure });
}

fn write_times(screen: &mut Screen, followers: &FollowersRecord) {
    let delivery = followers.delivery.as_ref().map(|delivery| &delivery.time);
    let rows: Vec<_> = [
        if_any("first byte", &followers.first_byte),
        if_any("first event", &followers.first_event),
        if_any("first match", &followers.first_match),
        if_any("gap", &followers.gap),
        delivery.and_then(|time| if_any("delivery", time)),
    ]
    .into_iter()
    .flatten()
    .collect();
    write_table(screen, &rows);
}
