//! What a ceiling holds for: this machine, these processors, this build.

use std::fs;

use serde::{Deserialize, Serialize};
use squall_load::host::cpus;

use crate::cli::VERSION;

/// One line per property of each processor (proc(5)).
const CPU_PATH: &str = "/proc/cpuinfo";
/// The release of the running kernel, as `uname -r` prints it (proc(5)).
const KERNEL_PATH: &str = "/proc/sys/kernel/osrelease";

/// The facts that make two calibrations comparable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Machine {
    /// What the processor calls itself.
    pub(super) cpu_model: String,
    /// Processors that the process may use, by number.
    pub(super) cpus_allowed: Vec<u32>,
    /// The kernel's release.
    pub(super) kernel: String,
    /// The release and commit of squall.
    pub(super) squall: String,
    /// Whether squall was compiled for speed.
    pub(super) optimized: bool,
}

impl Machine {
    /// This one.
    pub(super) fn here() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self {
            cpu_model: cpu_model(&read(CPU_PATH)).to_owned(),
            cpus_allowed: cpus::allowed(),
            kernel: known(read(KERNEL_PATH).trim()).to_owned(),
            squall: VERSION.clone(),
            optimized: !cfg!(debug_assertions),
        }
    }
}

/// The name of the first processor; ARM ones have none.
fn cpu_model(info: &str) -> &str {
    let line = info.lines().find(|line| line.starts_with("model name")).unwrap_or_default();
    known(line.split_once(':').map_or("", |(_, name)| name.trim()))
}

fn known(text: &str) -> &str {
    if text.is_empty() { "unknown" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_processor_names_the_model() {
        let check = |info: &str, expected: &str| assert_eq!(cpu_model(info), expected, "{info}");
        check("processor\t: 0\nmodel\t\t: 5\nmodel name\t: Some CPU @ 2 GHz\n", "Some CPU @ 2 GHz");
        check("model name\t: A: B\nmodel name\t: C\n", "A: B");
        check("processor\t: 0\nBogoMIPS\t: 50\n", "unknown");
        check("", "unknown");
    }

    #[test]
    fn this_machine_has_a_kernel_and_a_processor() {
        let machine = Machine::here();
        assert!(!machine.kernel.is_empty() && !machine.cpus_allowed.is_empty(), "{machine:?}");
    }
}
