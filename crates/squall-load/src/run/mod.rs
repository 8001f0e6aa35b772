//! A run: threads started, the window opened and closed, the results put together.
//!
//! Start at [`run`].

mod handle;

mod error;

mod parts;

mod conductor;

mod steady;

mod server;

mod results;

mod warnings;

mod progress;

mod one_run;

pub use crate::worker::WorkerError;
pub use error::RunError;
pub use handle::RunHandle;
pub use one_run::{About, run};
pub use progress::{Phase, RunProgress};
