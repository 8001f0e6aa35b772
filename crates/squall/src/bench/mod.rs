//! `squall bench`: options into a load, a load into a record, the record into a report.

mod spec;

mod bodies;

mod live;

mod output;

mod run;

pub(crate) use run::bench;
