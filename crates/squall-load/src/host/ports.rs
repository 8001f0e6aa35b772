//! Local ports: an outgoing connection takes one, and keeps it for a while after its end.

use super::grouped::grouped;
use super::proc;

/// Where the kernel keeps the range (ip(7)).
const RANGE_PATH: &str = "/proc/sys/net/ipv4/ip_local_port_range";
/// How long a closed connection holds its port (TIME_WAIT; `TCP_TIMEWAIT_LEN` in Linux).
const TIME_WAIT_SECONDS: u32 = 60;

/// How many local ports there are for connections to one address and port. `None` where the
/// system does not tell.
#[must_use]
pub fn available() -> Option<u32> {
    count(&proc::read(RANGE_PATH).ok()?)
}

/// What to say when a connection fails with `EADDRNOTAVAIL` while `open` others are open.
#[must_use]
pub fn explain_exhaustion(open: u64) -> String {
    explain(open, available())
}

fn count(range: &[u8]) -> Option<u32> {
    let mut ends = std::str::from_utf8(range).ok()?.split_ascii_whitespace();
    let (first, last): (u32, u32) = (ends.next()?.parse().ok()?, ends.next()?.parse().ok()?);
    last.checked_sub(first)?.checked_add(1)
}

fn explain(open: u64, available: Option<u32>) -> String {
    let ports = available.map_or_else(
        || "no local port is free".to_owned(),
        |count| {
            let (count, open) = (grouped(u64::from(count)), grouped(open));
            format!("all {count} local ports are taken, with {open} connections open")
        },
    );
    format!(
        "{ports}: a closed connection holds its port for {TIME_WAIT_SECONDS} s more (TIME_WAIT). \
         Keep connections alive, use fewer --connections, widen net.ipv4.ip_local_port_range, \
         or give several --connect-to addresses such as 127.0.0.2, each with ports of its own"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_includes_both_ends() {
        let check = |range: &[u8], expected: Option<u32>| {
            assert_eq!(count(range), expected, "{}", range.escape_ascii());
        };
        check(b"32768\t60999\n", Some(28_232));
        check(b"1 1", Some(1));
        check(b"2 1", None);
        check(b"32768", None);
        check(b"", None);
    }

    #[test]
    fn exhaustion_says_how_many_there_are_and_what_to_do() {
        assert_eq!(
            explain(1_200, Some(28_232)),
            "all 28,232 local ports are taken, with 1,200 connections open: a closed connection \
             holds its port for 60 s more (TIME_WAIT). Keep connections alive, use fewer \
             --connections, widen net.ipv4.ip_local_port_range, or give several --connect-to \
             addresses such as 127.0.0.2, each with ports of its own"
        );
        assert!(explain(1, None).starts_with("no local port is free: a closed connection"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_ports() {
        assert!(available().is_some_and(|count| count > 0));
        assert!(explain_exhaustion(1).contains("TIME_WAIT"));
    }
}
