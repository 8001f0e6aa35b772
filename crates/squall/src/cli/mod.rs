//! The command line: what can be asked for, in the words that `--help` prints.
//!
//! One struct per theme. Every limit is an option, so none hides in the code; those of the
//! server have a `SQUALL_…` variable beside them.

mod command;

mod serve;

mod listen;

mod http;

mod follow;

mod storage;

mod process;

mod bench;

mod bench_load;

mod bench_requests;

mod bench_network;

mod bench_report;

mod calibrate;

pub(crate) use bench::BenchArgs;
pub(crate) use bench_load::{LoadArgs, WarmUpArg};
pub(crate) use bench_network::NetworkArgs;
pub(crate) use bench_report::{ProgressWhen, ReportArgs, ReportFormat};
pub(crate) use bench_requests::{CheckArgs, RequestArgs};
pub(crate) use calibrate::{CalibrateArgs, CalibrateServerArgs};
pub(crate) use command::{Cli, Command, VERSION};
pub(crate) use follow::FollowArgs;
pub(crate) use http::HttpArgs;
pub(crate) use listen::ListenArgs;
pub(crate) use process::{LogFormat, ProcessArgs};
pub(crate) use serve::ServeArgs;
pub(crate) use storage::{Durability, StorageArgs};
