//! One store under test, with short words for what is asked of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use super::engine::{Engine, Setup};
use super::record::Record;
use super::wait::block_on;
use crate::content_type::ContentType;
use crate::event::Page;
use crate::expiry::Expiry;
use crate::instant::UnixMillis;
use crate::limits::StreamLimits;
use crate::name::StreamName;
use crate::offset::{Offset, ReadFrom};
use crate::producer::{ProducerClaim, ProducerId, ProducerPosition};
use crate::request::{
    Append, AppendAck, AppendError, Create, CreateAck, CreateError, List, Listing, Newest, Read,
    ReadError, ReadTarget, StreamError, StreamInfo,
};
use crate::store::{Lookup, StreamId, StreamStore};

/// The time at which every stage begins.
pub(super) const BEGIN: UnixMillis = UnixMillis(1_800_000_000_000);
/// A page that holds everything that a case stores.
pub(super) const PAGE_BYTES: usize = 64 * 1024 * 1024;

/// A store, its recorded observer and its clock.
pub(super) struct Stage {
    engine: Box<dyn Engine>,
    limits: StreamLimits,
    now: Arc<AtomicU64>,
    pub(super) store: Arc<dyn StreamStore>,
    pub(super) record: Arc<Record>,
}

impl Stage {
    pub(super) fn new(mut engine: Box<dyn Engine>, limits: StreamLimits) -> Self {
        let now = Arc::new(AtomicU64::new(BEGIN.0));
        let record = Arc::new(Record::default());
        let store = engine.open(setup(limits, &now, &record));
        Self { engine, limits, now, store, record }
    }

    pub(super) fn keeps_data(&self) -> bool {
        self.engine.keeps_data()
    }

    /// Shuts the store down, drops it, and opens it again. The record goes on.
    pub(super) fn reopen(self) -> Self {
        let Self { mut engine, limits, now, store, record } = self;
        block_on(store.shut_down()).expect("the store shuts down");
        drop(store);
        let store = engine.open(setup(limits, &now, &record));
        Self { engine, limits, now, store, record }
    }

    pub(super) fn now(&self) -> UnixMillis {
        UnixMillis(self.now.load(Ordering::SeqCst))
    }

    /// Lets `millis` go by.
    pub(super) fn pass(&self, millis: u64) {
        self.now.fetch_add(millis, Ordering::SeqCst);
    }

    pub(super) fn create(&self, create: Create) -> Result<CreateAck, CreateError> {
        block_on(self.store.create(create))
    }

    pub(super) fn append(&self, append: Append) -> Result<AppendAck, AppendError> {
        block_on(self.store.append(append))
    }

    pub(super) fn delete(&self, name: &str) -> Result<(), StreamError> {
        block_on(self.store.delete(named(name)))
    }

    pub(super) fn trim(&self, name: &str, before: Offset) -> Result<Offset, StreamError> {
        block_on(self.store.trim(named(name), before))
    }

    pub(super) fn describe(&self, name: &str) -> Result<StreamInfo, StreamError> {
        block_on(self.store.describe(named(name)))
    }

    pub(super) fn list(&self, list: List) -> Listing {
        block_on(self.store.list(list)).expect("the store lists")
    }

    pub(super) fn newest(&self, name: &str) -> Option<Newest> {
        let newest = match self.store.newest(&named(name)) {
            Lookup::Ready(newest) => newest,
            Lookup::Later(newest) => block_on(newest),
        };
        newest.expect("the store looks up the newest event")
    }

    pub(super) fn read(&self, name: &str, from: ReadFrom) -> Result<Page, ReadError> {
        self.read_page(ReadTarget::Name(named(name)), from, PAGE_BYTES)
    }

    pub(super) fn read_id(&self, id: StreamId, from: ReadFrom) -> Result<Page, ReadError> {
        self.read_page(ReadTarget::Id(id), from, PAGE_BYTES)
    }

    pub(super) fn read_page(
        &self,
        target: ReadTarget,
        from: ReadFrom,
        bytes_max: usize,
    ) -> Result<Page, ReadError> {
        block_on(self.store.read(Read { target, from, bytes_max }))
    }

    /// All payloads of a stream, read without renewing it.
    pub(super) fn payloads(&self, name: &str) -> Vec<Bytes> {
        let info = self.describe(name).expect("the stream is there");
        let page = self.read_id(info.stream, ReadFrom::Start);
        payloads(&page.expect("the stream can be read"))
    }
}

fn setup(limits: StreamLimits, now: &Arc<AtomicU64>, record: &Arc<Record>) -> Setup {
    let now = Arc::clone(now);
    Setup {
        limits,
        clock: Arc::new(move || UnixMillis(now.load(Ordering::SeqCst))),
        observer: Arc::<Record>::clone(record),
    }
}

pub(super) fn payloads(page: &Page) -> Vec<Bytes> {
    page.events().map(|event| event.payload).collect()
}

pub(super) fn named(name: &str) -> StreamName {
    StreamName::parse(name).expect("the name is valid")
}

pub(super) fn content_type(text: &str) -> ContentType {
    ContentType::parse(text).expect("the content type is valid")
}

/// The creation of an empty `text/plain` stream.
pub(super) fn text(name: &str) -> Create {
    Create {
        name: named(name),
        content_type: Some(ContentType::text_plain()),
        expiry: Expiry::Never,
        closed: false,
        events: Vec::new(),
    }
}

/// The creation of an empty `application/json` stream.
pub(super) fn json(name: &str) -> Create {
    Create { content_type: Some(content_type("application/json")), ..text(name) }
}

/// An append to a `text/plain` stream, which it creates if there is none.
pub(super) fn post(name: &str, events: &[&str]) -> Append {
    let events = events.iter().map(|event| bytes(event)).collect();
    Append { create: true, ..Append::new(named(name), ContentType::text_plain(), events) }
}

/// A mere close.
pub(super) fn close(name: &str) -> Append {
    Append { content_type: None, close: true, create: false, ..post(name, &[]) }
}

pub(super) fn claim(id: &str, epoch: u64, seq: u64) -> Option<ProducerClaim> {
    Some(ProducerClaim {
        id: ProducerId::parse(id).expect("the producer id is valid"),
        position: ProducerPosition { epoch, seq },
    })
}

pub(super) fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

pub(super) fn at(position: u64) -> ReadFrom {
    ReadFrom::At(Offset::at(position))
}
