//! When a service replies.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::clock::duration_ns;
use super::reply::reply;

/// Replies to every request after a service time, one at a time on each connection.
///
/// The service time of a request counts from when it was read off the socket or, if later,
/// from the previous reply on its connection.
#[derive(Clone, Debug)]
pub struct Service {
    /// The bytes of every reply.
    pub reply: Vec<u8>,
    /// How long a request takes.
    pub times: ServiceTimes,
    /// When nothing leaves.
    pub pauses: Option<Pause>,
    /// Seeds the dice, which each connection has for itself.
    pub seed: u64,
    /// Whether the record holds the head and body of each request.
    pub keep_requests: bool,
}

/// How long requests take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceTimes {
    /// No time: replies to requests that were read together leave together.
    None,
    /// Always the same.
    Constant(Duration),
    /// One of these by chance, each in proportion to its weight.
    Mixture(Vec<(u32, Duration)>),
}

/// Stretches of time in which no reply leaves on any connection; what falls due in one leaves
/// at its end. They begin `every`, twice `every` and so on after the server started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// From the start of one to the start of the next.
    pub every: Duration,
    /// How long one is, less than `every`.
    pub length: Duration,
}

impl Default for Service {
    /// An empty 200 at once.
    fn default() -> Self {
        Self {
            reply: reply(200, ""),
            times: ServiceTimes::None,
            pauses: None,
            seed: 0,
            keep_requests: false,
        }
    }
}

/// The service times of one connection.
#[derive(Debug)]
pub(super) struct Timetable {
    times: ServiceTimes,
    pauses: Option<Pause>,
    random: StdRng,
    /// When the server started, in ns of the clock.
    started_at: u64,
}

impl Timetable {
    /// That of the connection accepted as number `index`, from 0.
    pub(super) fn new(service: &Service, index: usize, started_at: u64) -> Self {
        let index = u64::try_from(index).unwrap_or(u64::MAX);
        Self {
            times: service.times.clone(),
            pauses: service.pauses,
            random: StdRng::seed_from_u64(service.seed.wrapping_add(index)),
            started_at,
        }
    }

    /// When to reply to a request that was begun at `begun_at`; all in ns.
    pub(super) fn due(&self, begun_at: u64, service_ns: u64) -> u64 {
        let due_at = begun_at.saturating_add(service_ns);
        self.pauses.map_or(due_at, |pause| pause.let_out(due_at, self.started_at))
    }

    /// How long the next request takes, in ns.
    pub(super) fn draw_ns(&mut self) -> u64 {
        match &self.times {
            ServiceTimes::None => 0,
            ServiceTimes::Constant(time) => duration_ns(*time),
            ServiceTimes::Mixture(parts) => {
                let total: u64 = parts.iter().map(|(weight, _)| u64::from(*weight)).sum();
                let mut rest = if total == 0 { 0 } else { self.random.random_range(0..total) };
                for (weight, time) in parts {
                    match rest.checked_sub(u64::from(*weight)) {
                        Some(less) => rest = less,
                        None => return duration_ns(*time),
                    }
                }
                0
            }
        }
    }
}

impl Pause {
    /// When something due at `due_at` leaves.
    fn let_out(self, due_at: u64, started_at: u64) -> u64 {
        let every = duration_ns(self.every).max(1);
        let since_start = due_at.saturating_sub(started_at);
        let into_cycle = since_start % every;
        let length = duration_ns(self.length).min(every);
        let is_paused = since_start >= every && into_cycle < length;
        if is_paused { due_at.saturating_add(length - into_cycle) } else { due_at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn timetable(times: ServiceTimes, pauses: Option<Pause>, seed: u64) -> Timetable {
        let service = Service { times, pauses, seed, ..Service::default() };
        Timetable::new(&service, 0, 1000 * MS)
    }

    #[test]
    fn a_reply_due_in_a_pause_leaves_at_its_end() {
        let every = Duration::from_millis(100);
        let pause = Pause { every, length: Duration::from_millis(20) };
        let timetable = timetable(ServiceTimes::None, Some(pause), 0);
        let check = |begun_ms, due_ms| {
            assert_eq!(timetable.due(begun_ms * MS, 0), due_ms * MS, "begun at {begun_ms} ms");
        };
        check(1000, 1000); // The first stretch is free.
        check(1099, 1099);
        check(1100, 1120);
        check(1119, 1120);
        check(1120, 1120);
        check(1210, 1220);
    }

    #[test]
    fn a_mixture_holds_its_weights_and_repeats_with_its_seed() {
        let (short, long) = (Duration::from_millis(1), Duration::from_millis(50));
        let times = ServiceTimes::Mixture(vec![(9, short), (0, Duration::MAX), (1, long)]);
        let draw = |seed| {
            let mut timetable = timetable(times.clone(), None, seed);
            (0..10_000).map(|_| timetable.draw_ns()).collect::<Vec<_>>()
        };
        let drawn = draw(7);
        let long_count = drawn.iter().filter(|time| **time == 50 * MS).count();
        assert!((800..1200).contains(&long_count), "{long_count} of 10000");
        assert!(drawn.iter().all(|time| [MS, 50 * MS].contains(time)));
        assert_eq!(drawn, draw(7));
        assert_ne!(drawn, draw(8));
    }

    #[test]
    fn a_mixture_of_nothing_takes_no_time() {
        assert_eq!(timetable(ServiceTimes::Mixture(Vec::new()), None, 0).draw_ns(), 0);
    }
}
