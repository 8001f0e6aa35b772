//! The kit itself.

mod faulty;
