//! A process and all its descendants, as the kernel counts them.

mod sample;
mod stat;
mod tree;

pub use sample::TreeSample;
pub(in crate::host) use stat::Stat;
pub use tree::{Tree, TreeError};

#[cfg(test)]
mod tests;
