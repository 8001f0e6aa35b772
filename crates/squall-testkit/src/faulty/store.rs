//! The store around the store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use squall_stream::event::Page;
use squall_stream::observer::Health;
use squall_stream::request::{
    Append, AppendAck, AppendError, Create, CreateAck, CreateError, List, Listing, Newest, Read,
    ReadError, StoreError, StreamError, StreamInfo,
};
use squall_stream::store::{BoxFuture, Lookup, StoreGauges, StreamId};
use squall_stream::{Offset, StreamName, StreamStore};

use super::script::{Fault, Method, Script, Struck, When};

/// A [`StreamStore`] with faults before and behind it.
///
/// A change that a fault strikes must be called inside a tokio runtime.
pub struct FaultyStore {
    inner: Arc<dyn StreamStore>,
    script: Mutex<Script>,
}

impl FaultyStore {
    /// A store that is as good as `inner` until something is injected.
    pub fn new(inner: Arc<dyn StreamStore>, seed: u64) -> Self {
        Self { inner, script: Mutex::new(Script::new(seed)) }
    }

    /// Lets a fault strike a method from now on.
    pub fn inject(&self, method: Method, when: When, fault: Fault) {
        self.script().add(method, when, fault);
    }

    /// Takes back every fault. Calls that were struck already go on as they were to.
    pub fn heal(&self) {
        self.script().clear();
    }

    /// How often a method was called, faults or not.
    pub fn calls(&self, method: Method) -> u64 {
        self.script().calls(method)
    }

    fn strike(&self, method: Method) -> Option<Struck> {
        self.script().strike(method)
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StreamStore for FaultyStore {
    fn create(&self, create: Create) -> BoxFuture<'_, Result<CreateAck, CreateError>> {
        let Some(struck) = self.strike(Method::Create) else {
            return self.inner.create(create);
        };
        let inner = Arc::clone(&self.inner);
        struck.in_task(async move { inner.create(create).await })
    }

    fn append(&self, append: Append) -> BoxFuture<'_, Result<AppendAck, AppendError>> {
        let Some(struck) = self.strike(Method::Append) else {
            return self.inner.append(append);
        };
        let inner = Arc::clone(&self.inner);
        struck.in_task(async move { inner.append(append).await })
    }

    fn delete(&self, name: StreamName) -> BoxFuture<'_, Result<(), StreamError>> {
        let Some(struck) = self.strike(Method::Delete) else {
            return self.inner.delete(name);
        };
        let inner = Arc::clone(&self.inner);
        struck.in_task(async move { inner.delete(name).await })
    }

    fn trim(&self, name: StreamName, before: Offset) -> BoxFuture<'_, Result<Offset, StreamError>> {
        let Some(struck) = self.strike(Method::Trim) else {
            return self.inner.trim(name, before);
        };
        let inner = Arc::clone(&self.inner);
        struck.in_task(async move { inner.trim(name, before).await })
    }

    fn read(&self, read: Read) -> BoxFuture<'_, Result<Page, ReadError>> {
        let Some(struck) = self.strike(Method::Read) else {
            return self.inner.read(read);
        };
        let inner = Arc::clone(&self.inner);
        Box::pin(struck.around(async move { inner.read(read).await }))
    }

    fn describe(&self, name: StreamName) -> BoxFuture<'_, Result<StreamInfo, StreamError>> {
        let Some(struck) = self.strike(Method::Describe) else {
            return self.inner.describe(name);
        };
        let inner = Arc::clone(&self.inner);
        Box::pin(struck.around(async move { inner.describe(name).await }))
    }

    fn newest(&self, name: &StreamName) -> Lookup<Result<Option<Newest>, StoreError>> {
        let Some(struck) = self.strike(Method::Newest) else {
            return self.inner.newest(name);
        };
        let (inner, name) = (Arc::clone(&self.inner), name.clone());
        Lookup::Later(Box::pin(struck.around(async move {
            match inner.newest(&name) {
                Lookup::Ready(newest) => newest,
                Lookup::Later(newest) => newest.await,
            }
        })))
    }

    fn list(&self, list: List) -> BoxFuture<'_, Result<Listing, StoreError>> {
        let Some(struck) = self.strike(Method::List) else {
            return self.inner.list(list);
        };
        let inner = Arc::clone(&self.inner);
        Box::pin(struck.around(async move { inner.list(list).await }))
    }

    fn renew(&self, stream: StreamId) {
        self.inner.renew(stream);
    }

    fn health(&self) -> Health {
        self.inner.health()
    }

    fn gauges(&self) -> StoreGauges {
        self.inner.gauges()
    }

    fn shut_down(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        let Some(struck) = self.strike(Method::ShutDown) else {
            return self.inner.shut_down();
        };
        let inner = Arc::clone(&self.inner);
        struck.in_task(async move { inner.shut_down().await })
    }
}
