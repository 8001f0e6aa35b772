//! The screen, as a person sees it.

use squall_report::terminal::{self, Style};
use squall_stats::record::BenchRecord;

use crate::records;

/// Most lines of a screen.
const LINES_MAX: usize = 45;

fn screen(record: &BenchRecord) -> String {
    terminal::bench(record, Style::default())
}

#[test]
fn a_healthy_closed_loop() {
    insta::assert_snapshot!(screen(&records::healthy()));
}

#[test]
fn an_open_loop_with_missed_arrivals() {
    insta::assert_snapshot!(screen(&records::missed_arrivals()));
}

#[test]
fn a_refused_port() {
    insta::assert_snapshot!(screen(&records::refused()));
}

#[test]
fn a_server_that_answers_500() {
    insta::assert_snapshot!(screen(&records::server_errors()));
}

#[test]
fn followers_and_delivery() {
    insta::assert_snapshot!(screen(&records::with_followers()));
}

#[test]
fn everything_at_once() {
    insta::assert_snapshot!(screen(&records::full()));
}

#[test]
fn a_screen_is_one_screen() {
    let mut few_samples = records::full();
    few_samples.latency.response = records::times(3, 1_000_000);
    few_samples.latency.service = records::times(12, 999_000);
    let records = [records::healthy(), records::missed_arrivals(), records::full(), few_samples];
    for record in &records {
        for width in [80, 100, u16::MAX] {
            let text = terminal::bench(record, Style { color: false, width });
            let columns = text.lines().map(|line| line.chars().count()).max().unwrap_or_default();
            let columns_max = usize::from(width.min(Style::WIDTH_MAX));
            assert!(columns <= columns_max, "{columns} columns at {width}:\n{text}");
            assert!(width == 80 || text.lines().count() <= LINES_MAX, "{text}");
            assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
        }
    }
}

/// A URL is the user's, and a label may come from a server: neither may move the cursor.
#[test]
fn nothing_in_a_record_reaches_the_terminal_as_a_command() {
    let mut record = records::full();
    record.warnings.push("\u{1b}[2J\u{7}".to_owned());
    for request in &mut record.target.requests {
        request.url.push_str("\u{1b}]0;title\r");
    }
    record.status_codes.clear();
    record.connections.failed.insert("\u{1b}[1m".to_owned(), 1);
    let text = screen(&record);
    assert!(text.chars().all(|character| character == '\n' || !character.is_control()), "{text:?}");
}

#[test]
fn a_ledger_that_does_not_add_up_is_called_a_bug() {
    let mut record = records::healthy();
    record.ledger.ok -= 1;
    let text = screen(&record).replace('\n', " ");
    assert!(text.contains("This is a bug of squall, please report it"), "{text}");
}
