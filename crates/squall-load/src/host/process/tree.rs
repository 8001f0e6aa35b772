//! Finding the processes of a tree and adding them up.

use std::collections::{HashMap, HashSet};
use std::fs;

use thiserror::Error;

use super::super::proc::{self, ProcError};
use super::sample::TreeSample;
use super::stat::{Stat, Switches};

/// How often a sample starts anew because a process ended while it was taken.
const ATTEMPTS_MAX: u32 = 4;

/// Why a tree could not be sampled.
#[derive(Debug, Error)]
pub enum TreeError {
    /// The process at its root does not run, or its id now belongs to another.
    #[error("process {pid} does not run, or no longer")]
    Ended {
        /// Its id.
        pid: u32,
    },
    /// The kernel's figures are not to be had.
    #[error(transparent)]
    Proc(#[from] ProcError),
}

/// A process and all its descendants, whichever there are at the time of a sample.
///
/// Children that ended stay in the processor time once their parent has waited for them, and
/// until then they are sampled as they are. Lost is only a child whose parent ignores
/// `SIGCHLD`, or which was adopted from outside since its parent ended first.
#[derive(Clone, Debug)]
pub struct Tree {
    pid: u32,
    started: u64,
}

impl Tree {
    /// The tree below the process `pid`, which must run.
    ///
    /// # Errors
    /// [`TreeError::Ended`] if it does not, [`TreeError::Proc`] if `/proc` does not tell.
    pub fn new(pid: u32) -> Result<Self, TreeError> {
        // Linux says "not found" also for a process; whether there is a /proc at all comes first.
        proc::read("/proc/self/stat")?;
        let stat = stat_of(pid).filter(|stat| !stat.is_zombie).ok_or(TreeError::Ended { pid })?;
        Ok(Self { pid, started: stat.started })
    }

    /// The process at the root.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Adds up what all processes of the tree took until now. Reads a file for every process of
    /// the machine, and a few more for each of the tree: about a millisecond in all.
    ///
    /// # Errors
    /// [`TreeError::Ended`] if the root ended, [`TreeError::Proc`] if `/proc` cannot be listed.
    pub fn sample(&self) -> Result<TreeSample, TreeError> {
        let mut attempts = 1;
        loop {
            let members = self.members()?;
            let sample = self.add_up(&members);
            if attempts == ATTEMPTS_MAX || self.is_settled(&members) {
                return sample;
            }
            attempts += 1;
        }
    }

    /// The ids of all processes of the tree, the root first, with their `stat`.
    fn members(&self) -> Result<Vec<(u32, Stat)>, TreeError> {
        let all = all_processes()?;
        let root = all.get(&self.pid).filter(|stat| self.is_root(stat));
        let root = *root.ok_or(TreeError::Ended { pid: self.pid })?;
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for (&pid, stat) in &all {
            children.entry(stat.parent).or_default().push(pid);
        }
        Ok(descendants(self.pid, &children)
            .into_iter()
            .filter_map(|pid| Some((pid, if pid == self.pid { root } else { *all.get(&pid)? })))
            .collect())
    }

    fn add_up(&self, members: &[(u32, Stat)]) -> Result<TreeSample, TreeError> {
        let mut sum = TreeSample::default();
        for &(pid, found) in members {
            // Fresher than what was found, unless the process has gone meanwhile.
            let fresh = stat_of(pid).filter(|stat| stat.started == found.started);
            match fresh {
                Some(stat) => add(&mut sum, pid, &stat),
                None if pid == self.pid => return Err(TreeError::Ended { pid }),
                None => {}
            }
        }
        Ok(sum)
    }

    /// Whether no process of the tree ended while it was added up. One that did may count twice
    /// or not at all, as its time moves to its parent at the moment when that waits for it.
    fn is_settled(&self, members: &[(u32, Stat)]) -> bool {
        members.iter().all(|&(pid, found)| {
            stat_of(pid).is_some_and(|stat| {
                stat.started == found.started && stat.waited_for == found.waited_for
            })
        })
    }

    fn is_root(&self, stat: &Stat) -> bool {
        stat.started == self.started && !stat.is_zombie
    }
}

/// Adds one process. Its own time and that of children it waited for are disjoint, and so are
/// those of its living children and theirs, which are in the tree themselves.
fn add(sum: &mut TreeSample, pid: u32, stat: &Stat) {
    sum.cpu_user += stat.own.cpu_user + stat.waited_for.cpu_user;
    sum.cpu_system += stat.own.cpu_system + stat.waited_for.cpu_system;
    if stat.is_zombie {
        return;
    }
    sum.processes += 1;
    sum.threads += stat.threads;
    let statm = proc::read(&format!("/proc/{pid}/statm"));
    sum.rss_bytes += statm.ok().and_then(|statm| proc::resident_bytes(&statm)).unwrap_or(0);
    // The status of the process itself has the switches of its main thread only.
    for thread in numbers_in(&format!("/proc/{pid}/task")).unwrap_or_default() {
        if let Ok(status) = proc::read(&format!("/proc/{pid}/task/{thread}/status")) {
            let switches = Switches::parse(&status);
            sum.voluntary_switches += switches.voluntary;
            sum.involuntary_switches += switches.involuntary;
        }
    }
}

fn stat_of(pid: u32) -> Option<Stat> {
    Stat::parse(&proc::read(&format!("/proc/{pid}/stat")).ok()?)
}

/// Those that end while the list is read are left out.
fn all_processes() -> Result<HashMap<u32, Stat>, ProcError> {
    let pids = numbers_in("/proc")?;
    Ok(pids.into_iter().filter_map(|pid| Some((pid, stat_of(pid)?))).collect())
}

/// The entries of a folder that are numbers: processes in `/proc`, threads in `task`.
fn numbers_in(path: &str) -> Result<Vec<u32>, ProcError> {
    let entries = fs::read_dir(path)
        .map_err(|source| ProcError::Unreadable { path: path.to_owned(), source })?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

/// `root` and everything below it, each once. A list that was read while ids were used anew
/// might hold a ring, which must not be walked for ever.
fn descendants(root: u32, children: &HashMap<u32, Vec<u32>>) -> Vec<u32> {
    let mut seen = HashSet::from([root]);
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        let below = children.get(&pid).into_iter().flatten().copied();
        found.extend(below.filter(|&child| seen.insert(child)));
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_at_any_depth_and_once() {
        let check = |arrows: &[(u32, u32)], expected: &[u32]| {
            let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
            for &(parent, child) in arrows {
                children.entry(parent).or_default().push(child);
            }
            let mut found = descendants(10, &children);
            found.sort_unstable();
            assert_eq!(found, expected, "{arrows:?}");
        };
        check(&[], &[10]);
        check(&[(1, 10), (10, 11), (11, 12), (10, 13), (1, 14)], &[10, 11, 12, 13]);
        check(&[(10, 11), (11, 10)], &[10, 11]);
        check(&[(10, 10)], &[10]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_id_that_was_used_anew_is_not_the_root() {
        let tree = Tree::new(std::process::id()).unwrap();
        let earlier = Tree { started: tree.started + 1, ..tree };
        assert!(matches!(earlier.sample(), Err(TreeError::Ended { .. })));
    }
}
