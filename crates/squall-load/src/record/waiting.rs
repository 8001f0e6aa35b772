//! How long a thread waited, within the window.

use super::recorder::Window;

/// The time that a thread spent waiting for something to happen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waiting {
    waited_ns: u64,
}

impl Waiting {
    /// Adds the part of a wait that lies in the window.
    pub(crate) fn add(&mut self, from_ns: u64, to_ns: u64, window: Window) {
        let from_ns = from_ns.max(window.start_ns);
        let to_ns = to_ns.min(window.end_ns);
        self.waited_ns += to_ns.saturating_sub(from_ns);
    }

    /// The share of a window of `length_ns` in which the thread did not wait, 0 to 1.
    pub(crate) fn busy_fraction(&self, length_ns: u64) -> f64 {
        if length_ns == 0 {
            return 0.0;
        }
        (1.0 - self.waited_ns as f64 / length_ns as f64).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_within_the_window_counts() {
        let window = Window { start_ns: 100, end_ns: 200 };
        let mut waiting = Waiting::default();
        for (from, to) in [(0, 50), (90, 110), (120, 150), (190, 300), (250, 260)] {
            waiting.add(from, to, window);
        }
        assert!((waiting.busy_fraction(100) - 0.5).abs() < 1e-9);
        assert!((waiting.busy_fraction(0)).abs() < 1e-9);
    }
}
