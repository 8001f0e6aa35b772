//! When requests are due: pure schedules that read no clock.
//!
//! [`Arrivals`] is the shape that a user asks for, [`Schedule`] one thread's share of it:
//! "what is due next, and when?" The k-th due time is computed from k, never from the one
//! before it, so a schedule does not drift however late it is asked.

mod arrivals;

mod due;

pub use arrivals::{Arrivals, ArrivalsError, RATE_MAX, RATE_MIN, Shape};
pub use due::{Schedule, Share};
