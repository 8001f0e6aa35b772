//! The model of a whole store.

use std::collections::BTreeMap;

use super::stream::ModelStream;
use crate::conformance::operation::Operation;
use crate::content_type::ContentType;
use crate::event::Page;
use crate::expiry::Expiry;
use crate::limits::StreamLimits;
use crate::offset::Offset;
use crate::request::{
    Append, AppendAck, AppendError, Create, CreateAck, CreateError, List, Listing, Newest, Read,
    ReadError, ReadTarget, StreamError, StreamInfo,
};
use crate::store::StreamId;

/// What an [`Operation`] is answered with.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each is the answer to the operation of that name")]
pub enum Outcome {
    Create(Result<CreateAck, CreateError>),
    Append(Result<AppendAck, AppendError>),
    Delete(Result<(), StreamError>),
    Trim(Result<Offset, StreamError>),
    Read(Result<Page, ReadError>),
    Describe(Result<StreamInfo, StreamError>),
    Newest(Option<Newest>),
    List(Listing),
    Done,
}

/// What a store should answer.
///
/// Its stream ids count from 1, in the order in which streams came to be.
pub struct Model {
    limits: StreamLimits,
    now: u64,
    created: u64,
    streams: BTreeMap<String, ModelStream>,
}

impl Model {
    /// An empty store at the time `now`, in ms.
    #[must_use]
    pub fn new(limits: StreamLimits, now: u64) -> Self {
        Self { limits, now, created: 0, streams: BTreeMap::new() }
    }

    /// Sets the time, in ms. May go backwards.
    pub fn set_now(&mut self, now: u64) {
        self.now = now;
    }

    /// The time, in ms.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The names of the streams that there are, in the order of their bytes.
    pub fn names(&mut self) -> Vec<String> {
        self.bury();
        self.streams.keys().cloned().collect()
    }

    /// Everything ever appended to a stream, trimmed bytes included, with its id.
    #[must_use]
    pub fn history(&self, name: &str) -> Option<(StreamId, &[u8])> {
        let stream = self.streams.get(name)?;
        Some((StreamId(stream.serial), &stream.bytes))
    }

    /// Answers an operation and does what it asks for.
    pub fn apply(&mut self, operation: &Operation) -> Outcome {
        self.bury();
        match operation {
            Operation::Create(create) => Outcome::Create(self.create(create)),
            Operation::Append(append) => Outcome::Append(self.append(append)),
            Operation::Delete(name) => {
                let gone = self.streams.remove(name.as_str());
                Outcome::Delete(gone.map(drop).ok_or(StreamError::NotFound))
            }
            Operation::Trim(name, before) => {
                let stream = self.streams.get_mut(name.as_str());
                let earliest = stream.map(|stream| stream.trim(*before));
                Outcome::Trim(earliest.ok_or(StreamError::NotFound))
            }
            Operation::Read(read) => Outcome::Read(self.read(read)),
            Operation::Describe(name) => {
                let stream = self.streams.get(name.as_str());
                let info = stream.map(|stream| stream.info(name.as_str()));
                Outcome::Describe(info.ok_or(StreamError::NotFound))
            }
            Operation::Newest(name) => Outcome::Newest(self.newest(name.as_str())),
            Operation::List(list) => Outcome::List(self.list(list)),
            Operation::Renew(id) => {
                self.renew(*id);
                Outcome::Done
            }
            Operation::Pass(millis) => {
                self.now += millis;
                Outcome::Done
            }
            Operation::Reopen => Outcome::Done,
        }
    }

    /// Forgets what has expired.
    fn bury(&mut self) {
        let now = self.now;
        self.streams.retain(|_, stream| !stream.over(now));
    }

    fn create(&mut self, create: &Create) -> Result<CreateAck, CreateError> {
        let name = create.name.as_str();
        let asked = create.content_type.clone();
        let asked = asked.unwrap_or_else(ContentType::octet_stream);
        if let Some(stream) = self.streams.get_mut(name) {
            let differs = |differs| Err(CreateError::Differs { differs });
            if !stream.same_type(&asked) {
                return differs("content type");
            }
            if stream.expiry != create.expiry {
                return differs("expiry");
            }
            if stream.closed != create.closed {
                return differs("closed state");
            }
            stream.touch(self.now);
            let info = stream.info(name);
            return Ok(CreateAck { created: false, info });
        }
        self.created += 1;
        let mut stream = ModelStream::new(self.created, asked, create.expiry, self.now);
        create.events.iter().for_each(|event| stream.push(event));
        stream.closed = create.closed;
        let info = stream.info(name);
        self.streams.insert(name.to_owned(), stream);
        Ok(CreateAck { created: true, info })
    }

    fn append(&mut self, append: &Append) -> Result<AppendAck, AppendError> {
        let name = append.name.as_str();
        if let Some(stream) = self.streams.get_mut(name) {
            return stream.take(append, self.now, &self.limits);
        }
        if !append.create {
            return Err(AppendError::NotFound);
        }
        let asked = append.content_type.clone();
        let asked = asked.unwrap_or_else(ContentType::octet_stream);
        let mut stream = ModelStream::new(self.created + 1, asked, Expiry::Never, self.now);
        let ack = stream.take(append, self.now, &self.limits)?;
        self.created += 1;
        self.streams.insert(name.to_owned(), stream);
        Ok(ack)
    }

    fn read(&mut self, read: &Read) -> Result<Page, ReadError> {
        let (stream, renews) = match &read.target {
            ReadTarget::Name(name) => (self.streams.get_mut(name.as_str()), true),
            ReadTarget::Id(id) => (self.with_id(*id), false),
        };
        let stream = stream.ok_or(ReadError::NotFound)?;
        let page = stream.page(read.from, read.bytes_max)?;
        if renews {
            let now = self.now;
            self.with_id(page.stream).into_iter().for_each(|stream| stream.touch(now));
        }
        Ok(page)
    }

    fn with_id(&mut self, id: StreamId) -> Option<&mut ModelStream> {
        let mut streams = self.streams.values_mut();
        streams.find(|stream| stream.serial == id.0)
    }

    fn newest(&mut self, name: &str) -> Option<Newest> {
        let stream = self.streams.get_mut(name)?;
        stream.touch(self.now);
        stream.newest()
    }

    fn renew(&mut self, id: StreamId) {
        let now = self.now;
        if let Some(stream) = self.with_id(id) {
            stream.touch(now);
        }
    }

    fn list(&self, list: &List) -> Listing {
        let behind = |name: &&String| list.after.as_ref().is_none_or(|after| *name > after);
        let names = self.streams.keys();
        let names = names.filter(|name| name.starts_with(&list.prefix)).filter(behind);
        let names: Vec<&String> = names.collect();
        let shown = &names[..names.len().min(list.limit)];
        let more = names.len() > shown.len();
        Listing {
            streams: shown.iter().map(|name| self.streams[*name].info(name)).collect(),
            next: shown.last().filter(|_| more).map(|name| (*name).clone()),
        }
    }
}
