//! The command line: what can be asked for, in the words that `--help` prints.
//!
//! One struct per theme. Every limit is an option with a `SQUALL_…` variable beside it, so
//! none hides in the code.

mod command;

mod serve;

mod listen;

mod http;

mod follow;

mod storage;

mod process;

pub(crate) use command::{Cli, Command, VERSION};
pub(crate) use follow::FollowArgs;
pub(crate) use http::HttpArgs;
pub(crate) use listen::ListenArgs;
pub(crate) use process::{LogFormat, ProcessArgs};
pub(crate) use serve::ServeArgs;
pub(crate) use storage::{Durability, StorageArgs};
