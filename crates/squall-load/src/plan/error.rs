//! Why a load cannot be run as it was asked for.

use std::io;
use std::path::PathBuf;

use squall_wire::http::request::TemplateError;

use super::target::TargetError;
use crate::host::files::FilesError;

/// Why a load cannot be run; each sentence says what would be right.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A URL is none.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// URLs of different servers.
    #[error(
        "{first} and {other} are different servers; one run loads one: the same scheme, host and port"
    )]
    Origins {
        /// The first URL.
        first: String,
        /// One of another server.
        other: String,
    },
    /// A request that cannot be built.
    #[error("{method} {url} cannot be sent")]
    Request {
        /// Its method.
        method: String,
        /// Its URL.
        url: String,
        /// What is wrong with it.
        source: TemplateError,
    },
    /// Two places to connect to.
    #[error("--unix-socket and --connect-to both say where to connect; leave one out")]
    TwoAddresses,
    /// A name that has no address at all.
    #[error("cannot resolve {host:?}")]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// A name that has no address of the family.
    #[error("{host:?} has no {family} address")]
    NoAddress {
        /// The name.
        host: String,
        /// `IPv4` or `IPv6`.
        family: &'static str,
    },
    /// TLS refused its own configuration.
    #[error("cannot set up TLS")]
    Tls(#[source] rustls::Error),
    /// A name that no certificate can have.
    #[error(
        "{name:?} is no name that a certificate can have; write a host name or an IP address, or --sni NAME"
    )]
    ServerName {
        /// The name.
        name: String,
    },
    /// The system trusts nobody.
    #[error(
        "the system has no certificates to trust; install ca-certificates, or name a file with --ca"
    )]
    NoRoots,
    /// A file of certificates that cannot be used.
    #[error("{}: {reason}; --ca takes a file of certificates in PEM", path.display())]
    Ca {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Nothing to do.
    #[error("there is nothing to do: no connections and no followers")]
    Nothing,
    /// A number of requests, and nothing to send them on.
    #[error("--requests needs connections to send them on; write --duration for followers alone")]
    RequestsOfNobody,
    /// More than the machine allows.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// A ramp that has no length.
    #[error("a ramp needs the length of the window: write --duration instead of --requests")]
    RampOfRequests,
    /// Stamps in a request that has no body of its own.
    #[error("a stamp needs at least {min} bytes and at most {max}, not {bytes}")]
    StampBytes {
        /// What was asked for.
        bytes: usize,
        /// The least.
        min: usize,
        /// The most.
        max: usize,
    },
    /// An empty list of bodies.
    #[error("there are no lines to send as bodies")]
    NoLines,
    /// Threads without a connection.
    #[error(
        "{threads} threads cannot share {connections} connections; write at most --threads {connections}"
    )]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// Connections and followers together.
        connections: usize,
    },
}
