//! README.md and the binary say the same: a newcomer reads nothing else.

use crate::command::{run, squall};

const README: &str = include_str!("../../../../README.md");
const WORKSPACE: &str = include_str!("../../../../Cargo.toml");

fn serve_help() -> String {
    run(squall(&["serve", "--help"])).stdout
}

/// What stands between two texts, the first of each.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap();
    rest.split_once(end).unwrap_or((rest, "")).0
}

/// The cells of the rows of the table under a heading.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let rows = between(README, heading, "\n## ").lines().filter(|line| line.starts_with('|'));
    // The first two are the names of the columns and a ruler.
    rows.skip(2).map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn the_readme_has_the_exit_codes_of_the_help() {
    let help = serve_help();
    let (_, codes) = help.split_once("Exit codes:\n").unwrap();
    let told: Vec<Vec<&str>> = codes
        .lines()
        .map(|line| line.trim_start().split_once("  ").unwrap())
        .map(|(code, meaning)| vec![code, meaning])
        .collect();
    assert_eq!(table("\n## Exit codes\n"), told);
}

/// A default that the help computes from the machine is described in words in both.
#[test]
fn the_readme_has_the_limits_of_the_help() {
    let help = serve_help();
    let rows = table("\n## Limits\n");
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let option = row[1].trim_matches('`');
        assert!(help.contains(&format!(" {option} <")), "{option}");
        let about = between(&help, &format!(" {option} <"), "\n      --");
        let default = about.split_once("[default: ").map(|(_, rest)| between(rest, "", "]"));
        match default {
            Some(default) => assert_eq!(row[2], default, "{option}"),
            None => assert!(about.contains("By default"), "{option}"),
        }
    }
}

/// `cargo run` needs to know which of the packages is meant.
#[test]
fn the_two_commands_of_the_readme_are_the_ones_that_work() {
    let commands = between(README, "\n```sh\n", "```");
    assert_eq!(commands, "cargo run --release -- serve\ncargo test --workspace\n");
    assert!(WORKSPACE.contains("default-members = [\"crates/squall\"]"));
    assert_eq!(run(squall(&["serve", "--help"])).code, Some(0));
}

#[test]
fn the_readme_shows_what_the_server_prints() {
    let version = env!("CARGO_PKG_VERSION");
    let ready = format!(
        "\nsquall {version} is listening on http://127.0.0.1:8080, streams in ./squall-data\n"
    );
    assert!(README.contains(&ready));
    let refused = run(squall(&["serve", "--listen", "0.0.0.0:8080"]));
    assert!(README.contains(&format!("\n{}", refused.stderr)), "{}", refused.stderr);
}
