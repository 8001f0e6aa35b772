//! Append, read and follow with `curl`, as the README shows it.

use anyhow::{Result, ensure};

use super::setup::{Fresh, is_installed, output_of};
use crate::ci::{Outcome, Programs};

/// Appends to, reads and follows a fresh server with `curl`.
///
/// # Errors
/// An answer was not as documented, or the server could not be run.
pub fn run(programs: &Programs) -> Result<Outcome> {
    if !is_installed("curl") {
        return Ok(Outcome::Skipped("curl is not installed".to_owned()));
    }
    let mut fresh = Fresh::start(&programs.squall)?;
    simple_face(&fresh)?;
    streams(&fresh)?;
    follows(&fresh)?;
    fresh.stop()?;
    Ok(Outcome::Passed)
}

/// `/`: one POST, one GET.
fn simple_face(fresh: &Fresh) -> Result<()> {
    let url = fresh.url("/");
    expect("POST / says", &curl(&["-d", "hello", &url])?, "Success")?;
    expect("GET / returns the newest", &curl(&[&url])?, "hello")?;
    expect("HTTP/2 works", &curl(&["--http2-prior-knowledge", &url])?, "hello")
}

/// `/v1/stream/{name}`: create, append, read from the start and from an offset.
fn streams(fresh: &Fresh) -> Result<()> {
    let url = fresh.url("/v1/stream/orders");
    let text = ["-H", "Content-Type: text/plain"];
    curl(&[&["-X", "PUT"], &text[..], &[&url]].concat())?;
    curl(&[&text[..], &["--data-binary", "one\n", &url]].concat())?;
    let appended = curl(&[&["-i"], &text[..], &["--data-binary", "two\n", &url]].concat())?;
    ensure!(appended.starts_with("HTTP/1.1 204"), "an append answered {appended:?}");
    expect("the start", &curl(&[&format!("{url}?offset=-1")])?, "one\ntwo\n")?;
    let read = curl(&["-i", &format!("{url}?offset=-1")])?;
    let up_to_date = read.to_ascii_lowercase().contains("stream-up-to-date: true");
    ensure!(up_to_date, "a whole read is not up to date: {read:?}");
    expect("the last event", &curl(&[&format!("{url}?offset=last")])?, "two\n")
}

/// `live=events`: what is stored, then nothing; from `Last-Event-ID`, only what came later.
fn follows(fresh: &Fresh) -> Result<()> {
    let url = fresh.url("/v1/stream/orders?live=events");
    let all = follow(&[&url])?;
    let events = data_lines(&all);
    ensure!(events.starts_with(&["one", "two"].map(String::from)), "followed {all:?}");
    let first_id = ids(&all).into_iter().next().unwrap_or_default();
    let rest = follow(&["-H", &format!("Last-Event-ID: {first_id}"), &url])?;
    expect("behind the first event", &data_lines(&rest).join(","), "two")
}

fn curl(args: &[&str]) -> Result<String> {
    output_of("curl", &[&["-sS", "--max-time", "20", "--fail"], args].concat())
}

/// A follow ends only when it is cut: here after a second, which curl reports as code 28.
fn follow(args: &[&str]) -> Result<String> {
    let script = r#"curl -sS -N --fail --max-time 1 "$@" 2>&1 || test $? = 28"#;
    output_of("sh", &[&["-c", script, "follow"], args].concat())
}

fn expect(what: &str, found: &str, expected: &str) -> Result<()> {
    ensure!(found == expected, "{what}: {expected:?} expected, {found:?} found");
    println!("{what}: {found:?}");
    Ok(())
}

/// The non-empty `data:` lines of an event stream. The events here end with a line feed,
/// which makes a second, empty data line.
fn data_lines(sse: &str) -> Vec<String> {
    field_values(sse, "data").into_iter().filter(|data| !data.is_empty()).collect()
}

fn ids(sse: &str) -> Vec<String> {
    field_values(sse, "id")
}

fn field_values(sse: &str, field: &str) -> Vec<String> {
    let mut values = Vec::new();
    for line in sse.lines() {
        if let Some((name, value)) = line.split_once(':')
            && name == field
        {
            values.push(value.strip_prefix(' ').unwrap_or(value).to_owned());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_an_event_stream_are_found() {
        let sse = ": hi\n\nid: 0_4\ndata:one\ndata:\n\nid:0_8\nevent: x\ndata: two\n\n";
        assert_eq!(data_lines(sse), ["one", "two"]);
        assert_eq!(ids(sse), ["0_4", "0_8"]);
    }
}
