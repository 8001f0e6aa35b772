//! The rules for single files: size, `mod.rs`, loose ends, and names that do not belong.
//!
//! Each rule takes a path and a text and says what is wrong, so that a test can hand it a
//! bad sample.

/// Longest Rust file, without the unit tests at its end.
pub const LINES_MAX: usize = 500;

/// Words that mark unfinished work. Assembled, so that this file passes its own rule.
const LOOSE_ENDS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Package registries: a project file names a package, not where it comes from.
const REGISTRIES: [&str; 4] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("npm", "js"),
    concat!("deb.debian", ".org"),
];

/// Texts outside the repository: what is written here stands alone.
const OUTSIDE: [&str; 4] = [
    concat!("../sha", "red"),
    concat!("work/sha", "red"),
    concat!("DESIGN", ".md"),
    concat!("STYLE", ".md"),
];

/// Everything wrong with the file at `path`, which is relative to the workspace.
#[must_use]
pub fn check(path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut problems = Vec::new();
    if name == "rust-toolchain.toml" || name == "rust-toolchain" {
        problems.push(format!("{path}: the toolchain is the user's; rust-version says the least"));
    }
    if name == "Cargo.lock" {
        return problems;
    }
    if name.ends_with(".rs") {
        problems.extend(check_length(path, text));
    }
    if name == "mod.rs" {
        problems.extend(check_mod_file(path, text));
    }
    problems.extend(check_words(path, text));
    problems
}

fn check_length(path: &str, text: &str) -> Option<String> {
    let lines = lines_without_tests(text);
    (lines >= LINES_MAX)
        .then(|| format!("{path}: {lines} lines without tests, must stay under {LINES_MAX}"))
}

/// Lines before a `#[cfg(test)] mod tests { … }` that ends the file.
fn lines_without_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let is_start = |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod tests {");
    let Some(start) = lines.windows(2).rposition(is_start) else {
        return lines.len();
    };
    let end = lines[start..].iter().position(|line| *line == "}");
    match end {
        Some(end) if start + end + 1 == lines.len() => start,
        _ => lines.len(),
    }
}

/// A `mod.rs` is a table of contents: docs, attributes, `mod` and `pub use`.
fn check_mod_file(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    // The text that ends the item that was begun on an earlier line.
    let mut open: Option<char> = None;
    for (index, line) in text.lines().map(str::trim).enumerate() {
        let item = without_visibility(line);
        let is_public = item.len() < line.len();
        let begun = match open {
            Some(end) => Some(end),
            None if line.starts_with('#') => Some(']'),
            None if item.starts_with("mod ") && !item.contains('{') => Some(';'),
            None if item.starts_with("use ") && is_public => Some(';'),
            None if line.is_empty() || line.starts_with("//") => None,
            None => {
                problems.push(format!("{path}:{}: only docs, mod and pub use here", index + 1));
                None
            }
        };
        open = begun.filter(|end| !line.ends_with(*end));
    }
    problems
}

fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else {
        return line;
    };
    let rest = match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')').map_or(rest, |(_, item)| item),
        None => rest,
    };
    rest.strip_prefix(' ').unwrap_or(line)
}

fn check_words(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let place = format!("{path}:{}", index + 1);
        let lower = line.to_ascii_lowercase();
        for word in LOOSE_ENDS.iter().filter(|word| has_word(line, word)) {
            if !names_issue(line) {
                problems.push(format!("{place}: {word} without an issue number, such as #12"));
            }
        }
        for host in REGISTRIES.iter().filter(|host| lower.contains(**host)) {
            problems.push(format!("{place}: names the registry {host}"));
        }
        for text in OUTSIDE.iter().filter(|text| line.contains(**text)) {
            problems.push(format!("{place}: cites {text}, which is not part of the project"));
        }
    }
    problems
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

fn names_issue(line: &str) -> bool {
    line.split('#').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expects one problem with each of `expected` in it, in this order.
    fn check(path: &str, text: &str, expected: &[&str]) {
        let problems = super::check(path, text);
        assert_eq!(problems.len(), expected.len(), "{path}: {problems:#?}");
        for (problem, part) in problems.iter().zip(expected) {
            assert!(problem.contains(part), "{problem:?} lacks {part:?}");
        }
    }

    #[test]
    fn long_files_fail_and_their_tests_do_not_count() {
        let code = "x\n".repeat(LINES_MAX - 1);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "    y\n".repeat(LINES_MAX));
        check("a.rs", &code, &[]);
        check("a.rs", &format!("{code}x\n"), &["a.rs: 500 lines"]);
        check("a.rs", &format!("{code}{tests}"), &[]);
        check("a.rs", &format!("{code}x\n{tests}"), &["a.rs: 500 lines"]);
        check("a.rs", &format!("{tests}{code}"), &["a.rs: 1002 lines"]);
        check("a.rs", &format!("{code}#[cfg(test)]\nmod tests;\n"), &["a.rs: 501 lines"]);
        check("tests/it/a.rs", &format!("{code}x\n"), &["500 lines"]);
        check("a.md", &format!("{code}x\n"), &[]);
    }

    #[test]
    fn a_mod_file_holds_no_code() {
        let table = "//! Docs.\n\n#![expect(\n    lint,\n    reason = \"r\"\n)]\n\
            mod a;\npub mod b;\npub(crate) mod c;\n#[cfg(test)]\nmod tests;\n\
            pub use a::{\n    One,\n    Two,\n};\npub(super) use b::Three;\n";
        check("src/a/mod.rs", table, &[]);
        check("src/a/mod.rs", "mod a;\nfn f() {}\n", &["mod.rs:2:"]);
        check("src/a/mod.rs", "use a::A;\n", &["mod.rs:1:"]);
        check("src/a/mod.rs", "mod a {}\n", &["mod.rs:1:"]);
        check("src/a/mod.rs", "publish();\n", &["mod.rs:1:"]);
        check("src/a/other.rs", "fn f() {}\n", &[]);
    }

    #[test]
    fn loose_ends_need_an_issue() {
        for word in LOOSE_ENDS {
            check("a.sh", &format!("one\n# {word}: later\n"), &["a.sh:2: "]);
            check("a.rs", &format!("// {word}(#12): later\n"), &[]);
            check("a.rs", &format!("// {word}: later, # 12\n"), &["a.rs:1: "]);
            check("a.sh", &format!("mktemp {word}{word}\n"), &[]);
        }
    }

    #[test]
    fn registries_and_outside_texts_are_not_named() {
        for host in REGISTRIES {
            check("a.md", &format!("see https://{}/x\n", host.to_uppercase()), &["registry"]);
            check("Cargo.lock", &format!("source = \"{host}\"\n"), &[]);
        }
        for text in OUTSIDE {
            check("a.rs", &format!("//! See {text}.\n"), &["not part of the project"]);
        }
    }

    #[test]
    fn a_toolchain_file_fails() {
        check("rust-toolchain.toml", "", &["toolchain"]);
        check("crates/a/rust-toolchain", "", &["toolchain"]);
    }
}
