//! `squall calibrate`: what this machine's generator, clock and timers can do at most.
//!
//! Loads the smallest possible server, in a process of its own, so that the numbers of a bench
//! can be read beside a ceiling. The ceilings are kept in a file for [`ceiling_of`]. Start at
//! [`calibrate`].

mod server;

mod child;

mod machine;

mod record;

mod steps;

mod cache;

mod text;

mod meaning;

mod run;

pub(crate) use cache::ceiling_of;
pub(crate) use run::calibrate;
pub(crate) use server::serve;
