//! Lists.

use super::run::Case;
use crate::conformance::stage::{Stage, post, text};
use crate::expiry::Expiry;
use crate::request::{Create, List, Listing};

pub(super) const CASES: &[Case] = &[
    ("a list is in the order of the names' bytes", order),
    ("a list is cut by prefix, place and limit", cuts),
    ("a list goes on where it ended", goes_on),
    ("a list shows streams as they are", shows),
];

/// In the order of their bytes.
const NAMES: [&str; 8] = ["B", "a", "a b", "a/b", "a/b/c", "ab", "b", "日本"];

fn names(listing: &Listing) -> Vec<&str> {
    let streams = listing.streams.iter();
    streams.map(|info| info.name.as_str()).collect()
}

fn list(stage: &Stage, prefix: &str, after: Option<&str>, limit: usize) -> Listing {
    stage.list(List { prefix: prefix.to_owned(), after: after.map(str::to_owned), limit })
}

fn filled(stage: &Stage) {
    for index in [3, 0, 7, 5, 1, 6, 2, 4] {
        stage.create(text(NAMES[index])).expect("created");
    }
}

fn order(stage: Stage) {
    assert_eq!(names(&list(&stage, "", None, 10)), Vec::<&str>::new());
    filled(&stage);
    let all = list(&stage, "", None, 100);
    assert_eq!(names(&all), NAMES);
    assert_eq!(all.next, None);
}

fn cuts(stage: Stage) {
    filled(&stage);
    let check = |prefix, after, limit, expected: &[&str], next: Option<&str>| {
        let found = list(&stage, prefix, after, limit);
        assert_eq!(names(&found), expected, "{prefix:?} {after:?} {limit}");
        assert_eq!(found.next.as_deref(), next, "{prefix:?} {after:?} {limit}");
    };
    check("a", None, 100, &NAMES[1..6], None);
    check("a/", None, 100, &["a/b", "a/b/c"], None);
    check("a/b", None, 1, &["a/b"], Some("a/b"));
    check("a", Some("a/b"), 100, &["a/b/c", "ab"], None);
    check("a", Some("B"), 2, &["a", "a b"], Some("a b"));
    check("a", Some("b"), 100, &[], None);
    check("", Some("a/a"), 2, &["a/b", "a/b/c"], Some("a/b/c"));
    check("", Some("日本"), 100, &[], None);
    check("日", None, 100, &["日本"], None);
    check("a%", None, 100, &[], None);
    check("_", None, 100, &[], None);
    check("", None, 8, &NAMES, None);
}

fn goes_on(stage: Stage) {
    filled(&stage);
    let mut found = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = list(&stage, "", after.as_deref(), 3);
        found.extend(names(&page).into_iter().map(str::to_owned));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, NAMES);
}

fn shows(stage: Stage) {
    stage.append(post("s", &["abc", "d"])).expect("appended");
    let short = Create { expiry: Expiry::Ttl(10), ..text("short") };
    stage.create(short).expect("created");
    let found = list(&stage, "", None, 10);
    assert_eq!(names(&found), ["s", "short"]);
    assert_eq!(found.streams[0], stage.describe("s").expect("described"));
    stage.pass(9_999);
    assert_eq!(names(&list(&stage, "", None, 10)), ["s", "short"]);
    stage.pass(1);
    assert_eq!(names(&list(&stage, "", None, 10)), ["s"]);
    assert_eq!(list(&stage, "", None, 1).next, None, "nothing behind it");
}
