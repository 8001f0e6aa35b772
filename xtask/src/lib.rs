//! The gate and the toolbox: what `cargo xtask` does, callable from tests.
//!
//! One file per subcommand ([`ci`], [`tidy`], [`crash`], [`accuracy`]). [`files`] and [`arrows`] hold
//! the rules that `tidy` applies; [`real`] holds the steps of `ci` that need the release
//! binary and extra programs.

#![expect(clippy::print_stdout, reason = "these are commands of a terminal")]

pub mod ci;

pub mod real;

pub mod crash;

pub mod accuracy;

pub mod tidy;

pub mod files;

pub mod arrows;

mod workspace;
