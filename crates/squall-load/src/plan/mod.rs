//! A load that can be run: checked, resolved, with its requests built.

mod target;

mod endpoint;

mod tls;

mod error;

mod requests;

mod expect;

mod load;

pub(crate) use endpoint::TlsEndpoint;
pub use endpoint::{Address, Endpoint};
pub use error::PlanError;
pub(crate) use expect::BodyState;
pub use expect::Check;
pub use load::{FollowPlan, LoadPlan};
pub use requests::{PlannedRequest, STAMP_BYTES_MAX};
pub use target::{Target, TargetError};
