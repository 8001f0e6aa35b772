//! The rules of `cargo xtask tidy`, held by `cargo test` as well.

use xtask::tidy;

#[test]
fn files_keep_to_the_rules() {
    let problems = tidy::check_files().unwrap();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn dependencies_follow_the_arrows() {
    let problems = tidy::check_arrows().unwrap();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
