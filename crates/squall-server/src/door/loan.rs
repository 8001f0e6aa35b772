//! Loans: bytes that HTTP/2 was given of an answer and has not sent yet.
//!
//! A peer can stop taking one answer while its connection goes on, so that the socket
//! never blocks. What lies there for longer than a peer may take nothing ends the
//! connection, as it would on HTTP/1.1: kept, it would use up the pages of all others.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use slab::Slab;

use crate::door::state::ConnectionState;

/// Bytes of one loan: the least that a peer must take of an answer within its time.
pub(crate) const LOAN_BYTES_MAX: usize = 16 * 1024;

/// When each loan of a connection was first seen by the sweep, in ms of the door's clock;
/// none before that.
#[derive(Debug, Default)]
pub(crate) struct Loans(Mutex<Slab<Option<u64>>>);

/// Bytes that are noted until they are dropped.
struct Loan {
    bytes: Bytes,
    state: Arc<ConnectionState>,
    key: usize,
}

/// Notes `bytes` as lent to the connection of `state`.
pub(crate) fn lend(state: &Arc<ConnectionState>, bytes: Bytes) -> Bytes {
    let key = state.loans().lock().insert(None);
    Bytes::from_owner(Loan { bytes, state: Arc::clone(state), key })
}

impl Loans {
    /// How long the oldest has been out at `now_ms`, as far as sweeps have seen; none if
    /// nothing is.
    pub(crate) fn oldest_ms(&self, now_ms: u64) -> Option<u64> {
        let mut loans = self.lock();
        let ages =
            loans.iter_mut().map(|(_, since)| now_ms.saturating_sub(*since.get_or_insert(now_ms)));
        ages.max()
    }

    fn lock(&self) -> MutexGuard<'_, Slab<Option<u64>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsRef<[u8]> for Loan {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.state.loans().lock().try_remove(self.key);
    }
}
