//! All streams in memory, by name and by id.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use crate::content_type::ContentType;
use crate::event::Page;
use crate::expiry::Expiry;
use crate::instant::UnixMillis;
use crate::limits::StreamLimits;
use crate::machine::{CreateDecision, StreamState, decide_create, plan_create};
use crate::memory::page;
use crate::memory::stream::Stream;
use crate::name::StreamName;
use crate::observer::Change;
use crate::offset::Offset;
use crate::request::{
    Append, AppendAck, AppendError, Create, CreateAck, CreateError, List, Listing, Newest, Read,
    ReadError, ReadTarget, StreamError, StreamInfo,
};
use crate::store::StreamId;

/// The streams, and what the operation at hand has changed.
#[derive(Default)]
pub(super) struct Table {
    names: BTreeMap<StreamName, StreamId>,
    streams: HashMap<StreamId, Stream>,
    last_id: u64,
    /// Committed, and not yet told to the observer. Empty between operations.
    pub(super) changes: Vec<Change>,
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.streams.len()
    }

    pub(super) fn create(
        &mut self,
        create: &Create,
        now: UnixMillis,
    ) -> Result<CreateAck, CreateError> {
        let found = self.named(&create.name, now);
        let decision = decide_create(found.as_ref().map(|stream| &stream.state), create, now)?;
        if let (CreateDecision::Stands, Some(stream)) = (decision, found) {
            stream.state.renew(now);
            let info = stream.info();
            return Ok(CreateAck { created: false, info });
        }
        let (state, plan) = plan_create(create, self.unused_id(), now)?;
        let mut stream = Stream::new(create.name.clone(), state);
        let first = plan.map(|plan| stream.apply(None, plan));
        let info = stream.info();
        self.insert(stream);
        self.changes.extend(first);
        Ok(CreateAck { created: true, info })
    }

    pub(super) fn append(
        &mut self,
        append: &Append,
        now: UnixMillis,
        limits: &StreamLimits,
    ) -> Result<AppendAck, AppendError> {
        if let Some(stream) = self.named(&append.name, now) {
            let (ack, change) = stream.append(append, now, limits)?;
            self.changes.extend(change);
            return Ok(ack);
        }
        if !append.create {
            return Err(AppendError::NotFound);
        }
        let content_type = append.content_type.clone();
        let content_type = content_type.unwrap_or_else(ContentType::octet_stream);
        let state = StreamState::new(self.unused_id(), content_type, Expiry::Never, now);
        let mut stream = Stream::new(append.name.clone(), state);
        let (ack, change) = stream.append(append, now, limits)?;
        self.insert(stream);
        self.changes.extend(change);
        Ok(ack)
    }

    pub(super) fn delete(&mut self, name: &StreamName, now: UnixMillis) -> Result<(), StreamError> {
        let stream = self.named(name, now).ok_or(StreamError::NotFound)?;
        let id = stream.state.stream;
        self.end(id);
        Ok(())
    }

    pub(super) fn trim(
        &mut self,
        name: &StreamName,
        before: Offset,
        now: UnixMillis,
    ) -> Result<Offset, StreamError> {
        let stream = self.named(name, now).ok_or(StreamError::NotFound)?;
        let (earliest, change) = stream.trim(before);
        self.changes.extend(change);
        Ok(earliest)
    }

    pub(super) fn read(&mut self, read: &Read, now: UnixMillis) -> Result<Page, ReadError> {
        let stream = match &read.target {
            ReadTarget::Name(name) => self.named(name, now),
            ReadTarget::Id(id) => self.alive(*id, now),
        };
        let stream = stream.ok_or(ReadError::NotFound)?;
        let page = page::cut(&stream.state, &stream.events, read.from, read.bytes_max)?;
        if matches!(read.target, ReadTarget::Name(_)) {
            stream.state.renew(now);
        }
        Ok(page)
    }

    pub(super) fn describe(
        &mut self,
        name: &StreamName,
        now: UnixMillis,
    ) -> Result<StreamInfo, StreamError> {
        let stream = self.named(name, now).ok_or(StreamError::NotFound)?;
        Ok(stream.info())
    }

    pub(super) fn newest(&mut self, name: &StreamName, now: UnixMillis) -> Option<Newest> {
        let stream = self.named(name, now)?;
        stream.state.renew(now);
        stream.newest()
    }

    /// Lists streams, passing over those that have expired.
    pub(super) fn list(&self, list: &List, now: UnixMillis) -> Listing {
        let prefix = list.prefix.as_str();
        let from = match list.after.as_deref() {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let mut alive = self
            .names
            .range::<str, _>((from, Bound::Unbounded))
            .take_while(|(name, _)| name.as_str().starts_with(prefix))
            .filter_map(|(_, id)| self.streams.get(id))
            .filter(|stream| !stream.state.is_expired(now))
            .map(Stream::info);
        let streams: Vec<_> = alive.by_ref().take(list.limit).collect();
        let last = streams.last().map(|info| info.name.as_str().to_owned());
        let next = alive.next().and(last);
        Listing { streams, next }
    }

    pub(super) fn renew(&mut self, id: StreamId, now: UnixMillis) {
        if let Some(stream) = self.alive(id, now) {
            stream.state.renew(now);
        }
    }

    /// Ends every stream that has expired, oldest first.
    pub(super) fn sweep(&mut self, now: UnixMillis) {
        let expired = |stream: &&Stream| stream.state.is_expired(now);
        let ids = self.streams.values().filter(expired);
        let mut ids: Vec<StreamId> = ids.map(|stream| stream.state.stream).collect();
        ids.sort_unstable();
        for id in ids {
            self.end(id);
        }
    }

    fn named(&mut self, name: &StreamName, now: UnixMillis) -> Option<&mut Stream> {
        let id = *self.names.get(name)?;
        self.alive(id, now)
    }

    /// The stream of this id. One that has expired is ended by the look at it.
    fn alive(&mut self, id: StreamId, now: UnixMillis) -> Option<&mut Stream> {
        if self.streams.get(&id)?.state.is_expired(now) {
            self.end(id);
        }
        self.streams.get_mut(&id)
    }

    fn unused_id(&mut self) -> StreamId {
        self.last_id += 1;
        StreamId(self.last_id)
    }

    fn insert(&mut self, stream: Stream) {
        let id = stream.state.stream;
        let name = stream.name.clone();
        self.names.insert(name.clone(), id);
        self.streams.insert(id, stream);
        self.changes.push(Change::Created { stream: id, name });
    }

    fn end(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.remove(&id) {
            self.names.remove(&stream.name);
            self.changes.push(Change::Ended { stream: id });
        }
    }
}
