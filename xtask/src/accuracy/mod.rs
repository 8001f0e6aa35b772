//! `cargo xtask accuracy`: what the generator measures, beside what the server recorded.
//!
//! A scripted server takes known times on the generator's own clock. Percentiles and rates are
//! printed side by side; counts have to agree. Start at [`run`].

mod cases;

mod percentile;

mod table;

mod measure;

mod run;

pub use run::{AccuracyArgs, run, run_short};
