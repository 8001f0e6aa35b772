//! What a user asks for: a load in plain values, before anything is checked or resolved.
//!
//! A command line or a suite file is turned into a [`LoadSpec`]; [`LoadPlan::build`] checks it
//! as a whole and says what is wrong.
//!
//! [`LoadPlan::build`]: crate::plan::LoadPlan::build

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::schedule::Arrivals;

/// A load as it was asked for.
#[derive(Clone, Debug)]
pub struct LoadSpec {
    /// What is sent; at least one. All go to the same scheme, host and port.
    pub requests: Vec<RequestSpec>,
    /// Headers of every request, in order, besides those that a request must have.
    pub headers: Vec<(String, String)>,
    /// The body of every request.
    pub body: BodySpec,
    /// Send HTTP/1.0 instead of HTTP/1.1.
    pub http10: bool,
    /// Send more than one request on a connection.
    pub keep_alive: bool,
    /// Requests after which a connection is closed and another one opened.
    pub requests_per_connection: Option<u64>,
    /// Connections, followers not counted.
    pub connections: usize,
    /// Threads; by default one for each core that the server leaves.
    pub threads: Option<usize>,
    /// Most requests on their way on one connection.
    pub pipeline: usize,
    /// The schedule of an open loop; a closed loop without one.
    pub arrivals: Option<Arrivals>,
    /// The seed of everything random.
    pub seed: u64,
    /// When the window ends.
    pub length: Length,
    /// What comes before the window.
    pub warm_up: WarmUp,
    /// What a reply must be to count as verified.
    pub expect: Expectations,
    /// Longest wait for a reply, from the actual start of its request.
    pub timeout: Duration,
    /// Longest wait for a connection, TLS included.
    pub connect_timeout: Duration,
    /// Followers beside the requests.
    pub follow: Option<FollowSpec>,
    /// How the server is reached.
    pub network: NetworkSpec,
    /// Processors for the generator's threads; empty leaves the choice to the kernel.
    pub pin: Vec<u32>,
    /// A process whose use of the machine is reported, with its children.
    pub server_pid: Option<u32>,
}

/// One request of the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestSpec {
    /// The method; by default POST with a body and GET without one.
    pub method: Option<String>,
    /// `http://…` or `https://…`.
    pub url: String,
    /// How often it is sent beside the others, at least 1.
    pub weight: u32,
}

/// The body of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodySpec {
    /// None.
    None,
    /// A text, whose template fields are filled in.
    Text(String),
    /// Bytes that are sent as they are.
    Bytes(Vec<u8>),
    /// One text after the other, each with its template fields filled in.
    Lines(Vec<String>),
    /// A stamp, padded to this many bytes.
    Stamp(usize),
}

/// When the window ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// After this many requests have been answered or have failed.
    Requests(u64),
    /// After this time.
    Time(Duration),
}

/// What comes before the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// Nothing.
    None,
    /// The same load for this time.
    For(Duration),
    /// The same load until its rate is steady, at most [`STEADY_MAX`].
    Steady,
}

/// Longest warm-up `steady`.
pub const STEADY_MAX: Duration = Duration::from_secs(60);

/// What a reply must be to count as verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectations {
    /// Statuses that pass; empty means 2xx and 3xx.
    pub status: Vec<StatusPattern>,
    /// The whole body.
    pub body: Option<Vec<u8>>,
    /// A part of the body.
    pub body_contains: Option<Vec<u8>>,
    /// The length of the body.
    pub bytes: Option<u64>,
}

/// Statuses that pass: one, or a class such as 2xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusPattern {
    /// Exactly this one.
    Code(u16),
    /// Every status from `n00` to `n99`.
    Class(u16),
}

/// Followers beside the requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowSpec {
    /// The event stream.
    pub url: String,
    /// Followers, slow ones not counted.
    pub followers: usize,
    /// Followers that read 4 KiB a second.
    pub slow_followers: usize,
    /// What an event's data holds to be a match; by default a stamp, or any data at all where
    /// no stamps are sent.
    pub match_text: Option<String>,
}

/// How the server is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkSpec {
    /// Take any certificate.
    pub tls_insecure: bool,
    /// A file of certificates in PEM to trust instead of the system's.
    pub ca: Option<PathBuf>,
    /// The name to ask for and to verify, instead of the URL's host.
    pub sni: Option<String>,
    /// Connect to this Unix socket instead of the URL's host.
    pub unix_socket: Option<PathBuf>,
    /// Connect to this address instead of the URL's host.
    pub connect_to: Option<SocketAddr>,
    /// Which of a name's addresses are taken.
    pub family: Family,
}

/// Which of a name's addresses are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// Any, in the order of the resolver.
    #[default]
    Any,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
}
