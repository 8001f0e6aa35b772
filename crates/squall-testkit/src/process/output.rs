//! Drains one pipe of a child process and keeps its last lines.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Lines kept; older ones are forgotten.
const LINES_MAX: usize = 400;

/// What a pipe has brought so far.
#[derive(Debug, Default)]
pub(super) struct Output {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<String>,
    ended: bool,
}

impl Output {
    /// Reads `pipe` to its end on a thread of its own.
    pub(super) fn drain<R: Read + Send + 'static>(pipe: Option<R>) -> Arc<Self> {
        let output = Arc::new(Self::default());
        let written = Arc::clone(&output);
        thread::spawn(move || {
            if let Some(pipe) = pipe {
                written.read(BufReader::new(pipe));
            }
            written.lock().ended = true;
            written.changed.notify_all();
        });
        output
    }

    fn read(&self, mut pipe: impl BufRead) {
        let mut line = Vec::new();
        while matches!(pipe.read_until(b'\n', &mut line), Ok(1..)) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            let mut state = self.lock();
            if state.lines.len() == LINES_MAX {
                state.lines.pop_front();
            }
            state.lines.push_back(text);
            drop(state);
            self.changed.notify_all();
            line.clear();
        }
    }

    /// The first kept line that `wanted` accepts; none at the end of the pipe or of `limit`.
    pub(super) fn wait_for(
        &self,
        limit: Duration,
        wanted: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let undecided =
            |state: &mut State| !state.ended && !state.lines.iter().any(|line| wanted(line));
        let waited = self.changed.wait_timeout_while(self.lock(), limit, undecided);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.lines.iter().find(|line| wanted(line)).cloned()
    }

    /// Waits at most `limit` for the pipe to close.
    pub(super) fn wait_for_end(&self, limit: Duration) {
        let waited = self.changed.wait_timeout_while(self.lock(), limit, |state| !state.ended);
        drop(waited);
    }

    /// The kept lines.
    pub(super) fn text(&self) -> String {
        self.lock().lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
