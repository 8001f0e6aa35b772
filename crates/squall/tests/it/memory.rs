//! What a server's process has in memory.

use squall_testkit::process::ServerProcess;

/// Resident memory now.
pub(crate) fn resident_bytes(server: &ServerProcess) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").trim().parse().unwrap();
    kibibytes * 1024
}
