//! One request on its way.

use squall_wire::http::response::RequestKind;

/// One request on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    /// When it should have left.
    pub(crate) intended_ns: u64,
    /// When it was handed to its connection, or to the attempt to open one.
    pub(crate) started_ns: u64,
    /// Publisher and sequence number of its stamp, if it carries one.
    pub(crate) stamp: Option<(u32, u32)>,
    /// What it asked for, as far as it decides where the reply ends.
    pub(crate) kind: RequestKind,
    /// Whether its intended start lies in the measured window.
    pub(crate) is_measured: bool,
}
