//! Long-polls: waiting until something lies behind an offset.

use std::future::poll_fn;
use std::task::Poll;

use squall_stream::Offset;

use crate::follow::hub::Membership;
use crate::follow::ring::Behind;

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// There is something to read, or the stream ended: read the store.
    Changed,
    /// The server asks its clients to leave.
    Leaving,
}

/// Waits until the ring that `membership` joined has news behind `at`.
///
/// Safe to drop at any time: the membership is left as it was.
pub(crate) async fn wait_behind(membership: &Membership, at: Offset) -> Waited {
    poll_fn(|cx| {
        membership.cell().register(cx.waker());
        if membership.cell().has_to_leave() {
            return Poll::Ready(Waited::Leaving);
        }
        membership.cell().take_heartbeat();
        match membership.ask(|ring, member| ring.look(at, member)) {
            Some(Some(Behind::Nothing)) => Poll::Pending,
            _ => Poll::Ready(Waited::Changed),
        }
    })
    .await
}
