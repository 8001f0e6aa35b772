//! The arrows: which crate may depend on which.
//!
//! Holds normal and build dependencies. Dev-dependencies are free, with two exceptions:
//! nothing depends on `xtask` or a subject in any way. A new crate needs a row in
//! [`ALLOWED`]; without one it fails.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata};

/// Crates of the workspace, each with those that it may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    (
        "squall",
        &[
            "squall-server",
            "squall-sqlite",
            "squall-jetstream",
            "squall-stream",
            "squall-lab",
            "squall-load",
            "squall-report",
            "squall-stats",
            "squall-client",
        ],
    ),
    ("squall-server", &["squall-stream", "squall-wire", "squall-client"]),
    ("squall-sqlite", &["squall-stream"]),
    ("squall-jetstream", &["squall-stream"]),
    ("squall-stream", &[]),
    ("squall-wire", &[]),
    ("squall-client", &["squall-wire"]),
    ("squall-lab", &["squall-load", "squall-stats"]),
    ("squall-load", &["squall-stats", "squall-wire"]),
    ("squall-report", &["squall-stats"]),
    ("squall-stats", &[]),
    // A test crate that ships nowhere: nobody but the toolbox names it outside of tests.
    ("squall-testkit", &["squall-stream", "squall-wire"]),
    ("xtask", &["squall-testkit"]),
];

/// Crates that do no IO and read no clock, so nothing below them may.
const PURE: &[&str] = &["squall-wire", "squall-stream", "squall-stats"];
/// What does IO.
const IMPURE: &[&str] = &["tokio", "hyper", "rusqlite", "mio"];

/// Libraries that one crate hides from the others.
const HIDDEN: &[(&str, &[&str])] = &[
    ("hyper", &["squall-server"]),
    ("hyper-util", &["squall-server", "squall-client"]),
    ("rusqlite", &["squall-sqlite"]),
];

/// The dependencies of a workspace, as far as the rules look at them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Packages by id: a name may occur in several versions.
    packages: BTreeMap<String, Package>,
}

#[derive(Clone, Debug, Default)]
struct Package {
    name: String,
    /// Ids of normal and build dependencies.
    needs: BTreeSet<String>,
    /// Ids of dev-dependencies.
    tests_with: BTreeSet<String>,
    /// Present for members of the workspace.
    member: Option<Member>,
}

#[derive(Clone, Debug, Default)]
struct Member {
    is_subject: bool,
    is_publishable: bool,
    has_rust_version: bool,
}

impl Graph {
    /// The graph that cargo resolved; none if `metadata` came without a resolution.
    #[must_use]
    pub fn from_metadata(metadata: &Metadata) -> Option<Self> {
        let mut packages = BTreeMap::new();
        for node in &metadata.resolve.as_ref()?.nodes {
            let mut package =
                Package { name: metadata[&node.id].name.to_string(), ..Package::default() };
            for dependency in &node.deps {
                let is_dev = |kind: DependencyKind| kind == DependencyKind::Development;
                let kinds = || dependency.dep_kinds.iter().map(|info| info.kind);
                if kinds().any(|kind| !is_dev(kind)) {
                    package.needs.insert(dependency.pkg.repr.clone());
                }
                if kinds().any(is_dev) {
                    package.tests_with.insert(dependency.pkg.repr.clone());
                }
            }
            packages.insert(node.id.repr.clone(), package);
        }
        for member in metadata.workspace_packages() {
            let path = member.manifest_path.strip_prefix(&metadata.workspace_root).ok()?;
            packages.get_mut(&member.id.repr)?.member = Some(Member {
                is_subject: path.starts_with("subjects"),
                is_publishable: member.publish.as_ref().is_none_or(|to| !to.is_empty()),
                has_rust_version: member.rust_version.is_some(),
            });
        }
        Some(Self { packages })
    }

    fn members(&self) -> impl Iterator<Item = (&String, &Package, &Member)> {
        self.packages
            .iter()
            .filter_map(|(id, package)| Some((id, package, package.member.as_ref()?)))
    }

    fn resolve<'a>(&'a self, ids: &'a BTreeSet<String>) -> impl Iterator<Item = &'a Package> {
        ids.iter().filter_map(|id| self.packages.get(id))
    }

    /// Names of everything that `id` needs, directly or not.
    fn needs_at_all(&self, id: &str) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        let mut seen = BTreeSet::from([id]);
        let mut open = vec![id];
        while let Some(package) = open.pop().and_then(|id| self.packages.get(id)) {
            for need in package.needs.iter().filter(|need| seen.insert(need.as_str())) {
                names.extend(self.packages.get(need).map(|package| package.name.as_str()));
                open.push(need);
            }
        }
        names
    }
}

/// Everything wrong with the dependencies.
#[must_use]
pub fn check(graph: &Graph) -> Vec<String> {
    let mut problems = Vec::new();
    for (id, package, member) in graph.members() {
        problems.extend(check_edges(graph, package, member));
        problems.extend(check_purity(graph, id, package));
        problems.extend(check_hidden(graph, package, member));
        problems.extend(check_manifest(package, member));
    }
    problems
}

/// Internal edges follow the table; subjects and tools are nobody's dependency.
fn check_edges(graph: &Graph, package: &Package, member: &Member) -> Vec<String> {
    let name = &package.name;
    let row = ALLOWED.iter().find(|(from, _)| from == name).map(|(_, to)| *to);
    let allowed = match row {
        Some(allowed) => allowed,
        None if member.is_subject => &[],
        None => return vec![format!("{name}: has no row in the table of arrows")],
    };
    let internal = |ids| graph.resolve(ids).filter(|needed| needed.member.is_some());
    let mut problems = Vec::new();
    for needed in internal(&package.needs).filter(|n| !allowed.contains(&n.name.as_str())) {
        problems.push(format!("{name}: must not depend on {}", needed.name));
    }
    for needed in internal(&package.tests_with) {
        if needed.name == "xtask" || needed.member.as_ref().is_some_and(|m| m.is_subject) {
            problems.push(format!("{name}: must not test with {}", needed.name));
        }
    }
    problems
}

/// Pure crates stay so all the way down.
fn check_purity(graph: &Graph, id: &str, package: &Package) -> Vec<String> {
    if !PURE.contains(&package.name.as_str()) {
        return Vec::new();
    }
    let needs = graph.needs_at_all(id);
    let impure = IMPURE.iter().filter(|name| needs.contains(**name));
    impure.map(|name| format!("{}: does no IO, but needs {name}", package.name)).collect()
}

/// Hidden libraries are named by their owners only. Subjects stand for other servers.
fn check_hidden(graph: &Graph, package: &Package, member: &Member) -> Vec<String> {
    let mut problems = Vec::new();
    for needed in graph.resolve(&package.needs).filter(|_| !member.is_subject) {
        let Some((_, owners)) = HIDDEN.iter().find(|(name, _)| *name == needed.name) else {
            continue;
        };
        if !owners.contains(&package.name.as_str()) {
            problems.push(format!(
                "{}: {} is hidden behind {}",
                package.name,
                needed.name,
                owners.join(" and ")
            ));
        }
    }
    problems
}

fn check_manifest(package: &Package, member: &Member) -> Vec<String> {
    let mut problems = Vec::new();
    if member.is_publishable {
        problems.push(format!("{}: needs `publish = false`", package.name));
    }
    if !member.has_rust_version {
        problems.push(format!("{}: needs a rust-version", package.name));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a graph from lines `name`, `name -> needed` or `name ~> tested with`. Names that
    /// start with `squall`, `xtask` or `subject` are members.
    fn graph(lines: &[&str]) -> Graph {
        let mut graph = Graph::default();
        let mut add = |name: &str| {
            let is_member = ["squall", "xtask", "subject"].iter().any(|p| name.starts_with(p));
            let member = is_member.then(|| Member {
                is_subject: name.starts_with("subject"),
                is_publishable: false,
                has_rust_version: true,
            });
            let package = Package { name: name.to_owned(), member, ..Package::default() };
            graph.packages.entry(name.to_owned()).or_insert(package);
        };
        let edges: Vec<Vec<&str>> = lines.iter().map(|line| line.split(' ').collect()).collect();
        edges.iter().flatten().filter(|word| !word.contains('>')).for_each(|name| add(name));
        for edge in edges.iter().filter(|edge| edge.len() == 3) {
            let package = graph.packages.get_mut(edge[0]).unwrap();
            let set = if edge[1] == "->" { &mut package.needs } else { &mut package.tests_with };
            set.insert(edge[2].to_owned());
        }
        graph
    }

    fn check_lines(lines: &[&str], expected: &[&str]) {
        assert_eq!(check(&graph(lines)), expected, "{lines:?}");
    }

    #[test]
    fn the_planned_arrows_pass() {
        check_lines(
            &[
                "squall -> squall-server",
                "squall -> squall-lab",
                "squall ~> squall-testkit",
                "squall-server -> squall-wire",
                "squall-server -> hyper",
                "squall-sqlite -> rusqlite",
                "squall-load -> mio",
                "squall-stream ~> tokio",
                "squall-sqlite ~> squall-server",
                "subject-hello -> hyper",
                "xtask -> squall-testkit",
            ],
            &[],
        );
    }

    #[test]
    fn an_arrow_the_other_way_fails() {
        check_lines(
            &["squall-stream -> squall-sqlite"],
            &["squall-stream: must not depend on squall-sqlite"],
        );
        check_lines(
            &["squall-server -> squall-sqlite"],
            &["squall-server: must not depend on squall-sqlite"],
        );
        check_lines(
            &["squall-lab -> squall-server"],
            &["squall-lab: must not depend on squall-server"],
        );
    }

    #[test]
    fn the_testkit_is_for_tests_only() {
        check_lines(&["squall -> squall-testkit"], &["squall: must not depend on squall-testkit"]);
    }

    #[test]
    fn tools_and_subjects_are_not_depended_on() {
        check_lines(&["squall -> xtask"], &["squall: must not depend on xtask"]);
        check_lines(&["squall ~> xtask"], &["squall: must not test with xtask"]);
        check_lines(&["squall-lab ~> subject-a"], &["squall-lab: must not test with subject-a"]);
        check_lines(&["subject-a -> squall-wire"], &["subject-a: must not depend on squall-wire"]);
    }

    #[test]
    fn a_crate_without_a_row_fails() {
        check_lines(&["squall-extra"], &["squall-extra: has no row in the table of arrows"]);
    }

    #[test]
    fn pure_crates_stay_pure_all_the_way_down() {
        check_lines(
            &["squall-wire -> left", "left -> right", "right -> mio"],
            &["squall-wire: does no IO, but needs mio"],
        );
        check_lines(&["squall-stream -> tokio"], &["squall-stream: does no IO, but needs tokio"]);
    }

    #[test]
    fn hidden_libraries_stay_hidden() {
        check_lines(
            &["squall-server -> rusqlite"],
            &["squall-server: rusqlite is hidden behind squall-sqlite"],
        );
        check_lines(&["squall -> hyper"], &["squall: hyper is hidden behind squall-server"]);
        check_lines(
            &["xtask -> hyper-util"],
            &["xtask: hyper-util is hidden behind squall-server and squall-client"],
        );
    }

    #[test]
    fn manifests_keep_the_crate_at_home_and_name_a_version() {
        let mut graph = graph(&["squall-wire"]);
        graph.packages.get_mut("squall-wire").unwrap().member =
            Some(Member { is_publishable: true, ..Member::default() });
        assert_eq!(
            check(&graph),
            ["squall-wire: needs `publish = false`", "squall-wire: needs a rust-version"]
        );
    }
}
