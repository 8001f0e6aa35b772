//! The binary: reads the command line, wires the parts, and says how it ended.
//!
//! Owns options, exit codes, logging, signals and the choice of the engine. Does not own
//! anything that a server does: that is `squall-server`, over an engine such as
//! `squall-sqlite`. Start here, then [`serve::serve`].

mod exit;

mod value;

mod signals;

mod interrupt;

mod output;

mod cli;

mod serve;

mod bench;

mod calibrate;

use std::io::{self, Write};
use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::exit::Failure;

/// Requests and their answers are allocated on one thread and freed on another all the
/// time, which the C library's allocator takes a tenth of the processor for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let Cli { command } = Cli::read();
    let ended = match command {
        Command::Serve(args) => serve::serve(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Calibrate(args) => calibrate::calibrate(&args),
        Command::CalibrateServer(args) => calibrate::serve(&args),
    };
    match ended {
        Ok(exit) => exit.into(),
        Err(Failure { exit, error }) => {
            // Where nobody reads standard error, the code says enough.
            writeln!(io::stderr(), "squall: {error:#}").ok();
            exit.into()
        }
    }
}
