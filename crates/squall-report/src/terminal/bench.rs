//! The screen of one run.

use squall_stats::record::BenchRecord;

use super::screen::{Screen, Tone};
use super::style::Style;
use super::{connections, followers, machine, requests, target, times};

/// One run on one screen, at most [`Style::WIDTH_MAX`] columns wide.
#[must_use]
pub fn bench(record: &BenchRecord, style: Style) -> String {
    let mut screen = Screen::new(style);
    screen.paragraph(&record.summary.sentence, Tone::Normal);
    screen.gap();
    for warning in &record.warnings {
        screen.paragraph(&format!("warning: {warning}"), Tone::Warning);
    }
    screen.gap();
    target::write(&mut screen, record);
    screen.gap();
    times::write(&mut screen, record);
    screen.gap();
    requests::write(&mut screen, record);
    screen.gap();
    connections::write(&mut screen, record);
    screen.gap();
    if let Some(record) = &record.followers {
        followers::write(&mut screen, record);
        screen.gap();
    }
    if let Some(server) = &record.server {
        machine::write_server(&mut screen, server);
    }
    machine::write_generator(&mut screen, record);
    screen.finish()
}
