//! Requests, built once.

use squall_wire::http::request::{HttpVersion, RequestParts, RequestTemplate};
use squall_wire::stamp::STAMP_BYTES_MIN;

use super::error::PlanError;
use super::target::Target;
use crate::spec::{BodySpec, LoadSpec, RequestSpec};

/// Largest stamp, in bytes.
pub const STAMP_BYTES_MAX: usize = 1 << 20;

/// One request of the load.
#[derive(Clone, Debug)]
pub struct PlannedRequest {
    /// The method.
    pub method: String,
    /// The URL as it was given.
    pub url: String,
    /// How often it is sent beside the others.
    pub weight: u32,
    /// Bytes of the first body.
    pub body_bytes: u64,
    /// Its bytes; several, taken in turn, if the bodies are lines.
    pub(crate) templates: Vec<RequestTemplate>,
}

impl PlannedRequest {
    pub(super) fn has_stamp(&self) -> bool {
        self.templates.iter().any(RequestTemplate::has_stamp)
    }
}

/// Builds the requests of `spec`, whose URLs are `targets`.
pub(super) fn build(spec: &LoadSpec, targets: &[Target]) -> Result<Vec<PlannedRequest>, PlanError> {
    let bodies = bodies(&spec.body)?;
    spec.requests
        .iter()
        .zip(targets)
        .map(|(request, target)| build_one(spec, request, target, &bodies))
        .collect()
}

fn build_one(
    spec: &LoadSpec,
    request: &RequestSpec,
    target: &Target,
    bodies: &Bodies,
) -> Result<PlannedRequest, PlanError> {
    let default = if matches!(spec.body, BodySpec::None) { "GET" } else { "POST" };
    let method = request.method.as_deref().unwrap_or(default);
    // In a mix the body is meant for those that append, not for those that read.
    let has_body = spec.requests.len() == 1 || !matches!(method, "GET" | "HEAD");
    let no_body = Bodies { texts: vec![Vec::new()], have_fields: false, bytes: 0 };
    let bodies = if has_body { bodies } else { &no_body };
    let template = |body: &Vec<u8>| {
        RequestTemplate::build(&RequestParts {
            method,
            target: &target.path,
            host: &target.authority,
            version: if spec.http10 { HttpVersion::V10 } else { HttpVersion::V11 },
            headers: &spec.headers,
            body,
            keep_alive: spec.keep_alive,
            has_fields: true,
            has_body_fields: bodies.have_fields,
        })
        .map_err(|source| PlanError::Request {
            method: method.to_owned(),
            url: request.url.clone(),
            source,
        })
    };
    Ok(PlannedRequest {
        method: method.to_owned(),
        url: request.url.clone(),
        weight: request.weight.max(1),
        body_bytes: bodies.bytes,
        templates: bodies.texts.iter().map(template).collect::<Result<_, _>>()?,
    })
}

struct Bodies {
    /// At least one.
    texts: Vec<Vec<u8>>,
    have_fields: bool,
    /// Length of the first one, as it is sent.
    bytes: u64,
}

fn bodies(spec: &BodySpec) -> Result<Bodies, PlanError> {
    let texts = match spec {
        BodySpec::None => vec![Vec::new()],
        BodySpec::Text(text) => vec![text.clone().into_bytes()],
        BodySpec::Bytes(bytes) => vec![bytes.clone()],
        BodySpec::Lines(lines) => lines.iter().map(|line| line.clone().into_bytes()).collect(),
        BodySpec::Stamp(bytes) => vec![stamp(*bytes)?],
    };
    if texts.is_empty() {
        return Err(PlanError::NoLines);
    }
    let bytes = match spec {
        BodySpec::Stamp(bytes) => *bytes,
        _ => texts.first().map_or(0, Vec::len),
    };
    let have_fields = !matches!(spec, BodySpec::Bytes(_));
    Ok(Bodies { have_fields, bytes: bytes as u64, texts })
}

fn stamp(bytes: usize) -> Result<Vec<u8>, PlanError> {
    if !(STAMP_BYTES_MIN..=STAMP_BYTES_MAX).contains(&bytes) {
        let (min, max) = (STAMP_BYTES_MIN, STAMP_BYTES_MAX);
        return Err(PlanError::StampBytes { bytes, min, max });
    }
    Ok(format!("{{{{stamp:{bytes}}}}}").into_bytes())
}
