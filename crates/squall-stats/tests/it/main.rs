//! The crate through its public face.

mod histograms;
mod judgements;
mod ledgers;
mod records;
mod sample;
