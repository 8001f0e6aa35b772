//! The load engine: schedules, connections, followers, recorders.
//!
//! Turns a [`spec::LoadSpec`] into a checked [`plan::LoadPlan`], runs it on threads of its own
//! ([`run`]), and gives back what was measured, as the record of `squall-stats`.
//! Does not own the command line or text for people.
//! Invariants: schedules read no clock, time is an argument; a thread shares nothing in its
//! loop; every request that was handed out is in exactly one column of the ledger.
//! Limits: every wait, buffer and backlog is bounded, and the bound is in the plan or a constant.

pub mod spec;

pub mod plan;

pub mod schedule;

pub mod host;

mod net;

mod exchange;

mod follow;

mod record;

mod worker;

pub mod run;

pub mod raw_server;
