//! What happened: one recorder per thread, merged into the record of the run.

mod recorder;

mod counts;

mod connections;

mod waiting;

mod snapshot;

pub(crate) use counts::Counts;
pub(crate) use recorder::{Recorder, Reply, Window};
pub(crate) use snapshot::Snapshot;
