//! Bounded waiting for tests that watch another process.

use std::time::{Duration, Instant};

/// How long [`wait_until`] rests between two looks.
const POLL: Duration = Duration::from_millis(2);

/// Calls `condition` until it holds or `limit` has passed; returns whether it held.
pub fn wait_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if condition() {
            return true;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        rest(left.min(POLL));
    }
}

/// Lets `duration` pass. For a random moment to strike; to wait for something, name it in
/// [`wait_until`].
pub fn pause(duration: Duration) {
    rest(duration);
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process cannot signal a condition variable of this one"
)]
fn rest(duration: Duration) {
    std::thread::sleep(duration);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_comes_true_ends_the_wait() {
        let mut looks = 0;
        let held = wait_until(Duration::from_secs(60), || {
            looks += 1;
            looks == 3
        });
        assert!(held);
        assert_eq!(looks, 3);
    }

    #[test]
    fn a_condition_that_never_holds_is_given_up() {
        assert!(!wait_until(Duration::from_millis(5), || false));
    }
}
