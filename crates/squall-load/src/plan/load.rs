//! The plan: everything that a run needs to know, checked.

use std::time::Duration;

use memchr::memmem;
use squall_stats::record::{LoadRecord, LoopKind, RequestRecord, TargetRecord};
use squall_wire::http::request::{HttpVersion, RequestParts, RequestTemplate};

use super::endpoint::Endpoint;
use super::error::PlanError;
use super::expect::Check;
use super::requests::{self, PlannedRequest};
use super::target::Target;
use crate::host::{cpus, files};
use crate::schedule::{Arrivals, Shape};
use crate::spec::{FollowSpec, Length, LoadSpec, WarmUp};

/// Files that a run needs besides its connections.
const OTHER_FILES: u64 = 64;

/// Threads that one run may have.
const THREADS_MAX: usize = 256;

/// A load that can be run.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    /// Where requests go.
    pub endpoint: Endpoint,
    /// What is sent, at least one.
    pub requests: Vec<PlannedRequest>,
    /// Connections, followers not counted.
    pub connections: usize,
    /// Threads, at least one.
    pub threads: usize,
    /// Most requests on their way on one connection, at least one.
    pub pipeline: usize,
    /// The schedule of an open loop; a closed loop without one.
    pub arrivals: Option<Arrivals>,
    /// The seed of everything random.
    pub seed: u64,
    /// When the window ends.
    pub length: Length,
    /// What comes before the window.
    pub warm_up: WarmUp,
    /// Whether a connection carries more than one request.
    pub keep_alive: bool,
    /// Requests after which a connection is closed.
    pub requests_per_connection: Option<u64>,
    /// What replies are held against.
    pub check: Check,
    /// Longest wait for a reply.
    pub timeout: Duration,
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// Followers beside the requests.
    pub follow: Option<FollowPlan>,
    /// Processors for the threads.
    pub pin: Vec<u32>,
    /// A process whose use of the machine is reported.
    pub server_pid: Option<u32>,
    /// Whether request bodies carry stamps.
    pub(crate) has_stamps: bool,
}

/// Followers beside the requests.
#[derive(Clone, Debug)]
pub struct FollowPlan {
    /// Where they connect.
    pub endpoint: Endpoint,
    /// Followers, slow ones not counted.
    pub followers: usize,
    /// Followers that read slowly.
    pub slow_followers: usize,
    /// What the data of a match holds.
    pub(crate) needle: Option<memmem::Finder<'static>>,
    parts: FollowParts,
}

/// What a follow request is built from, each time with the newest id.
#[derive(Clone, Debug)]
struct FollowParts {
    path: String,
    authority: String,
    headers: Vec<(String, String)>,
}

impl LoadPlan {
    /// Checks `spec` as a whole, resolves its host and builds its requests.
    ///
    /// # Errors
    /// [`PlanError`] says what cannot be, and what would be right.
    pub fn build(spec: &LoadSpec) -> Result<Self, PlanError> {
        let targets = targets(spec)?;
        let followers = spec.follow.as_ref().map_or(0, |f| f.followers + f.slow_followers);
        if (spec.connections == 0 || targets.is_empty()) && followers == 0 {
            return Err(PlanError::Nothing);
        }
        if let (Some(Shape::Ramp { .. }), Length::Requests(_)) =
            (spec.arrivals.map(|arrivals| arrivals.shape), spec.length)
        {
            return Err(PlanError::RampOfRequests);
        }
        if let (0, Length::Requests(_)) = (spec.connections, spec.length) {
            return Err(PlanError::RequestsOfNobody);
        }
        let threads = threads(spec, spec.connections + followers)?;
        files::enough_for((spec.connections + followers) as u64 + OTHER_FILES)?;
        let requests = requests::build(spec, &targets)?;
        let first = targets.first().ok_or(PlanError::Nothing)?;
        Ok(Self {
            endpoint: Endpoint::resolve(first, &spec.network)?,
            connections: spec.connections,
            threads,
            pipeline: if spec.keep_alive { spec.pipeline.max(1) } else { 1 },
            arrivals: spec.arrivals,
            seed: spec.seed,
            length: spec.length,
            warm_up: spec.warm_up,
            keep_alive: spec.keep_alive,
            requests_per_connection: spec.requests_per_connection,
            check: Check::new(&spec.expect),
            timeout: spec.timeout,
            connect_timeout: spec.connect_timeout,
            follow: spec
                .follow
                .as_ref()
                .map(|follow| FollowPlan::build(spec, follow))
                .transpose()?,
            pin: spec.pin.clone(),
            server_pid: spec.server_pid,
            has_stamps: requests.iter().any(PlannedRequest::has_stamp),
            requests,
        })
    }

    /// How the load is recorded.
    #[must_use]
    pub fn load_record(&self) -> LoadRecord {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let (followers, slow) =
            self.follow.as_ref().map_or((0, 0), |f| (f.all() as u64, f.slow_followers as u64));
        LoadRecord {
            loop_kind: if self.arrivals.is_some() { LoopKind::Open } else { LoopKind::Closed },
            connections: self.connections as u64,
            threads: self.threads as u64,
            pipeline: self.pipeline as u64,
            keep_alive: self.keep_alive,
            requests_per_connection: self.requests_per_connection,
            arrivals: self.arrivals.map(|arrivals| arrivals.to_string()),
            rate: self.arrivals.map(|arrivals| arrivals.rate),
            seed: self.seed,
            followers,
            slow_followers: slow,
            timeout_ns: nanos(self.timeout),
            connect_timeout_ns: nanos(self.connect_timeout),
        }
    }

    /// How the target is recorded, `address` being the one that was chosen.
    #[must_use]
    pub fn target_record(&self, address: &str) -> TargetRecord {
        let request = |request: &PlannedRequest| RequestRecord {
            method: request.method.clone(),
            url: request.url.clone(),
            weight: request.weight,
            body_bytes: request.body_bytes,
        };
        TargetRecord {
            requests: self.requests.iter().map(request).collect(),
            address: address.to_owned(),
            tls: self.endpoint.tls.is_some(),
        }
    }
}

impl FollowPlan {
    fn build(spec: &LoadSpec, follow: &FollowSpec) -> Result<Self, PlanError> {
        let target = Target::parse(&follow.url)?;
        let text = follow.match_text.as_deref();
        let plan = Self {
            endpoint: Endpoint::resolve(&target, &spec.network)?,
            followers: follow.followers,
            slow_followers: follow.slow_followers,
            needle: text.map(|text| memmem::Finder::new(text).into_owned()),
            parts: FollowParts {
                path: target.path.clone(),
                authority: target.authority.clone(),
                headers: follow_headers(&spec.headers),
            },
        };
        plan.try_request("").map(|_request| ()).map_err(|source| PlanError::Request {
            method: "GET".to_owned(),
            url: follow.url.clone(),
            source,
        })?;
        Ok(plan)
    }

    /// All followers.
    #[must_use]
    pub fn all(&self) -> usize {
        self.followers + self.slow_followers
    }

    /// The request of a follower whose newest id is `last_event_id`; `None` for an id that no
    /// header can hold.
    pub(crate) fn request(&self, last_event_id: &str) -> Option<RequestTemplate> {
        self.try_request(last_event_id).ok()
    }

    fn try_request(
        &self,
        last_event_id: &str,
    ) -> Result<RequestTemplate, squall_wire::http::request::TemplateError> {
        let mut headers = self.parts.headers.clone();
        if !last_event_id.is_empty() {
            headers.push(("Last-Event-ID".to_owned(), last_event_id.to_owned()));
        }
        RequestTemplate::build(&RequestParts {
            method: "GET",
            target: &self.parts.path,
            host: &self.parts.authority,
            version: HttpVersion::V11,
            headers: &headers,
            body: b"",
            keep_alive: true,
            has_fields: false,
            has_body_fields: false,
        })
    }
}

/// The headers of a follow: who is asking is the same, what is sent is not.
fn follow_headers(headers: &[(String, String)]) -> Vec<(String, String)> {
    let of_body = |name: &str| name.to_ascii_lowercase().starts_with("content-");
    let mut kept: Vec<_> = headers.iter().filter(|(name, _)| !of_body(name)).cloned().collect();
    if !kept.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept")) {
        kept.push(("Accept".to_owned(), "text/event-stream".to_owned()));
    }
    kept
}

/// The URLs, all of one server.
fn targets(spec: &LoadSpec) -> Result<Vec<Target>, PlanError> {
    let targets: Vec<Target> = spec
        .requests
        .iter()
        .map(|request| Target::parse(&request.url))
        .collect::<Result<_, _>>()?;
    if let Some(first) = targets.first()
        && let Some(other) = targets.iter().find(|target| !target.has_same_origin(first))
    {
        return Err(PlanError::Origins { first: first.to_string(), other: other.to_string() });
    }
    Ok(targets)
}

fn threads(spec: &LoadSpec, connections: usize) -> Result<usize, PlanError> {
    match spec.threads {
        Some(threads) if threads > connections => Err(PlanError::Threads { threads, connections }),
        Some(threads) => Ok(threads.clamp(1, THREADS_MAX)),
        None => Ok(cpus::spare().min(connections).clamp(1, THREADS_MAX)),
    }
}
