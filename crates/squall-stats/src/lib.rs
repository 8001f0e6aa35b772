//! Pure mathematics of measuring: numbers in, numbers out.
//!
//! Owns histograms and percentiles ([`histogram`]), the ledger that adds up ([`ledger`]),
//! thresholds over results ([`threshold`]), and the records of results, plain and versioned
//! data ([`record`]). Does not own sockets, clocks or text for people.
//! Invariant: no IO, no clock. A percentile comes from merged histograms, never from an
//! average of percentiles, and one without enough samples beyond it is no number.

#![warn(missing_docs)]

mod digits;

pub mod histogram;

pub mod ledger;

pub mod record;

pub mod threshold;
