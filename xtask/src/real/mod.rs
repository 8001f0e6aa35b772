//! The steps of `cargo xtask ci` that need real parts: the release binary, a real disk,
//! other people's clients. One file each; the list is in `ci.rs`.

pub mod curl;

pub mod ab;

pub mod strace_sync;

mod trace;

pub mod disk_full;

mod setup;
