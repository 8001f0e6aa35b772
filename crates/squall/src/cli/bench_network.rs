//! How the server is reached.

use std::net::{AddrParseError, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::value::{count, duration};

const MILLISECOND: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// Options of connections.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct NetworkArgs {
    /// Longest wait for a reply; then the request has failed and its connection is closed.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    #[arg(value_parser = duration(MILLISECOND, HOUR))]
    pub(crate) timeout: Duration,

    /// Longest wait for a connection, TLS included.
    #[arg(long, value_name = "TIME", default_value = "2s")]
    #[arg(value_parser = duration(MILLISECOND, HOUR))]
    pub(crate) connect_timeout: Duration,

    /// Open a connection for every request, as part of its time.
    #[arg(long, conflicts_with = "pipeline", conflicts_with = "requests_per_connection")]
    pub(crate) no_keepalive: bool,

    /// Requests after which a connection is closed and another one opened.
    #[arg(long, value_name = "COUNT", value_parser = count(1, 1_000_000_000))]
    pub(crate) requests_per_connection: Option<usize>,

    /// Take any certificate.
    #[arg(long, conflicts_with = "ca")]
    pub(crate) tls_insecure: bool,

    /// File of certificates in PEM to trust, instead of the system's.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,

    /// Name to ask for and to verify in TLS, instead of the URL's host.
    #[arg(long, value_name = "NAME")]
    pub(crate) sni: Option<String>,

    /// Unix socket to connect to, instead of the URL's host.
    #[arg(long, value_name = "PATH", conflicts_with = "connect_to")]
    pub(crate) unix_socket: Option<PathBuf>,

    /// Address to connect to, instead of the URL's host.
    #[arg(long, value_name = "IP:PORT", value_parser = parse_address)]
    pub(crate) connect_to: Option<SocketAddr>,

    /// Take the IPv4 addresses of a name only.
    #[arg(short = '4', conflicts_with = "ipv6")]
    pub(crate) ipv4: bool,

    /// Take the IPv6 addresses of a name only.
    #[arg(short = '6')]
    pub(crate) ipv6: bool,

    /// Process whose use of the machine is reported, with its children.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) server_pid: Option<u32>,
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|error: AddrParseError| {
        format!("{error}; write an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080")
    })
}
