//! Trees of real processes.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use squall_testkit::wait::wait_until;

use super::{Tree, TreeError, TreeSample};

/// Long enough for any machine; nothing waits for it to pass.
const LIMIT: Duration = Duration::from_secs(60);

/// A shell that runs what it is told and ends with its input.
struct Shell(Child);

impl Shell {
    fn start() -> Self {
        let child = Command::new("sh").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        Self(child.unwrap())
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.0.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Runs `line`, and comes back when the shell is done with it.
    fn run(&mut self, line: &str) {
        self.tell(&format!("{line}\necho done"));
        let mut answer = String::new();
        BufReader::new(self.0.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
        assert_eq!(answer, "done\n");
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn cpu(sample: &TreeSample) -> Duration {
    sample.cpu_user + sample.cpu_system
}

#[test]
fn a_child_that_ended_keeps_its_processor_time() {
    let mut shell = Shell::start();
    let tree = Tree::new(shell.0.id()).unwrap();
    let before = tree.sample().unwrap();
    // A child and its child, each counting for some 0.1 s.
    let count = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    shell.run(&format!("sh -c '{count}; sh -c \"{count}\"; :'"));
    let used = tree.sample().unwrap().since(&before);
    assert!(cpu(&used) >= Duration::from_millis(40), "{used:?}");
    assert_eq!(used.processes, 1);
}

#[test]
fn living_children_are_part_of_the_tree() {
    let mut shell = Shell::start();
    let tree = Tree::new(shell.0.id()).unwrap();
    assert_eq!(tree.sample().unwrap().processes, 1);
    shell.tell("sh -c 'cat; :' | cat");
    // The shell, the two sides of the pipe, and the child of one of them.
    assert!(wait_until(LIMIT, || tree.sample().unwrap().processes >= 3));
    let sample = tree.sample().unwrap();
    assert!(sample.threads >= sample.processes);
    assert!(sample.rss_bytes > 100_000, "{sample:?}");
    assert!(sample.voluntary_switches > 0, "{sample:?}");
}

#[test]
fn switches_of_all_threads_are_counted() {
    let tree = Tree::new(std::process::id()).unwrap();
    let (tx, rx) = std::sync::mpsc::sync_channel::<()>(0);
    let (started_tx, started_rx) = std::sync::mpsc::sync_channel::<()>(0);
    let thread = std::thread::spawn(move || {
        started_tx.send(()).unwrap();
        while rx.recv().is_ok() {}
    });
    started_rx.recv().unwrap();
    let before = tree.sample().unwrap();
    // Each hand-over makes a thread wait, unless both meet by chance.
    let grew = wait_until(LIMIT, || {
        tx.send(()).unwrap();
        tree.sample().unwrap().since(&before).voluntary_switches >= 10
    });
    drop(tx);
    thread.join().unwrap();
    assert!(grew);
    assert!(before.threads >= 2);
}

#[test]
fn an_ended_root_is_an_error_even_before_it_was_waited_for() {
    let mut shell = Shell::start();
    let pid = shell.0.id();
    let tree = Tree::new(pid).unwrap();
    shell.0.kill().unwrap();
    assert!(wait_until(LIMIT, || tree.sample().is_err()));
    let expected = format!("process {pid} does not run, or no longer");
    assert_eq!(tree.sample().unwrap_err().to_string(), expected);
    assert!(matches!(Tree::new(pid), Err(TreeError::Ended { .. })));
    shell.0.wait().unwrap();
    assert!(matches!(tree.sample(), Err(TreeError::Ended { .. })));
}
