//! Records in, text out.
//!
//! Owns what a person reads of a run: the plain words ([`sentence`]), the screen
//! ([`terminal`]), the live line ([`progress`]), the judgements ([`thresholds`]); and the JSON
//! that programs read ([`json`]). Does not measure, judge or print: the binary does the last.
//! Invariant: no IO, no clock, and no number that the record does not hold or imply.
//! Start at [`terminal::bench`].

mod text;

mod sentence;

pub mod terminal;

pub mod json;

pub mod progress;

pub mod thresholds;

pub use sentence::sentence;
