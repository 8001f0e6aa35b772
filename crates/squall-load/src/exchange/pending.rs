//! One request on its way.

use squall_wire::http::response::RequestKind;

/// One request on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    /// When it should have left.
    pub(crate) intended_ns: u64,
    /// When it was handed to its connection, or to the attempt to open one.
    pub(crate) started_ns: u64,
    /// The publisher of its stamp, if requests are stamped.
    pub(crate) publisher: Option<u32>,
    /// The sequence number of its stamp.
    pub(crate) sequence: u32,
    /// What it asked for, as far as it decides where the reply ends.
    pub(crate) kind: RequestKind,
    /// Whether its intended start lies in the measured window.
    pub(crate) is_measured: bool,
}
