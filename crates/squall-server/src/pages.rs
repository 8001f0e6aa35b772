//! The page budget: how many bytes of pages may be in memory at a time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use squall_stream::request::{Read, ReadError, StoreError};
use squall_stream::{Page, StreamStore};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes that one permit of the semaphore stands for.
const UNIT_BYTES: usize = 1_024;

/// Bounds the bytes of pages that were read and not yet written to a socket.
#[derive(Debug)]
pub(crate) struct PageBudget {
    units: Arc<Semaphore>,
    units_max: usize,
    wait_max: Duration,
}

/// A share of the budget, given back when dropped.
#[derive(Debug)]
pub(crate) struct PagePermit {
    units: Option<OwnedSemaphorePermit>,
}

/// How long a read waits for its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Until there is room: a follow, which has nothing better to do.
    Endless,
    /// As long as the budget lets a request wait.
    Limited,
}

/// Why no page was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PageError {
    /// The budget is used up, and stayed so for as long as a request may wait.
    Busy,
    /// The store's own answer.
    Read(ReadError),
}

impl PageError {
    /// Whether the same read may well succeed in a moment.
    pub(crate) fn is_overload(&self) -> bool {
        matches!(self, Self::Busy | Self::Read(ReadError::Store(StoreError::QueueFull { .. })))
    }
}

struct Held {
    bytes: Vec<u8>,
    _permit: PagePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

struct HeldBytes {
    bytes: Bytes,
    _permit: PagePermit,
}

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl PageBudget {
    /// A budget of `bytes_max`; a request waits up to `wait_max` for its share.
    pub(crate) fn new(bytes_max: usize, wait_max: Duration) -> Self {
        let units_max = (bytes_max / UNIT_BYTES).clamp(1, Semaphore::MAX_PERMITS);
        Self { units: Arc::new(Semaphore::new(units_max)), units_max, wait_max }
    }

    /// Reads a page within the budget.
    ///
    /// `expected` is how many payload bytes the page is likely to have. A page that turns
    /// out larger takes more of the budget; where that is used up the page is given up and
    /// read again once there is room, so that no reader sits on memory while it waits.
    ///
    /// # Errors
    /// [`PageError::Busy`] if the budget stays used up for longer than `patience`.
    pub(crate) async fn read(
        &self,
        store: &dyn StreamStore,
        read: Read,
        mut expected: usize,
        patience: Patience,
    ) -> Result<(Page, PagePermit), PageError> {
        loop {
            let mut permit = self.take(expected, patience).await?;
            let page = store.read(read.clone()).await.map_err(PageError::Read)?;
            if page.data.len() <= expected || self.extend(&mut permit, page.data.len() - expected) {
                return Ok((page, permit));
            }
            expected = page.data.len();
        }
    }

    /// Waits for `bytes` of the budget; at most all of it.
    ///
    /// # Errors
    /// [`PageError::Busy`] if that takes longer than `patience`.
    pub(crate) async fn take(
        &self,
        bytes: usize,
        patience: Patience,
    ) -> Result<PagePermit, PageError> {
        let acquired = Arc::clone(&self.units).acquire_many_owned(self.units_for(bytes));
        // The semaphore is never closed; were it, there would be nothing to bound.
        let units = match patience {
            Patience::Endless => acquired.await.ok(),
            Patience::Limited => {
                let waited = tokio::time::timeout(self.wait_max, acquired).await;
                waited.ok().ok_or(PageError::Busy)?.ok()
            }
        };
        Ok(PagePermit { units })
    }

    /// Takes `bytes` more if they are free now.
    pub(crate) fn extend(&self, permit: &mut PagePermit, bytes: usize) -> bool {
        match Arc::clone(&self.units).try_acquire_many_owned(self.units_for(bytes)) {
            Ok(more) => {
                match &mut permit.units {
                    Some(units) => units.merge(more),
                    none => *none = Some(more),
                }
                true
            }
            Err(_) => false,
        }
    }

    /// At most the whole budget, so that a single larger event can be read, alone.
    fn units_for(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT_BYTES).min(self.units_max)).unwrap_or(u32::MAX)
    }
}

impl PagePermit {
    /// Bytes that give the share back when the last copy of them is dropped.
    pub(crate) fn hold(self, bytes: Vec<u8>) -> Bytes {
        Bytes::from_owner(Held { bytes, _permit: self })
    }

    /// As [`PagePermit::hold`], for bytes that are shared already.
    pub(crate) fn hold_bytes(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(HeldBytes { bytes, _permit: self })
    }
}
