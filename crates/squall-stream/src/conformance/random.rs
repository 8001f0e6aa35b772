//! Random operations, on a store and on the model.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::engine::Engine;
use super::model::{Model, Outcome};
use super::operation::{Operation, any_operation, limits};
use super::stage::{BEGIN, PAGE_BYTES, Stage, named};
use crate::observer::Change;
use crate::offset::ReadFrom;
use crate::request::{List, Read, ReadTarget};
use crate::store::StreamId;

/// An id that no store gives to a stream of these few.
const NO_STREAM: StreamId = StreamId(u32::MAX as u64);

/// Compares a store with the model over `sequences` random sequences of up to
/// `operations` operations each, then reads everything back.
///
/// # Panics
/// If they differ, with the shortest sequence found that shows it.
pub fn random_operations(factory: &dyn Fn() -> Box<dyn Engine>, operations: usize, sequences: u32) {
    let config = Config { cases: sequences, failure_persistence: None, ..Config::default() };
    let strategy = vec(any_operation(), 1..=operations);
    let result = TestRunner::new(config).run(&strategy, |operations| {
        let mut pair = Pair::new(factory());
        for operation in &operations {
            pair.check(operation)?;
        }
        pair.read_back()?;
        pair.check_record()
    });
    if let Err(error) = result {
        panic!("the store is not what the rules make of it: {error}");
    }
}

/// A store, the model, and which of their streams are the same.
struct Pair {
    /// Gone only while the store is opened again.
    stage: Option<Stage>,
    model: Model,
    ids: HashMap<StreamId, StreamId>,
}

impl Pair {
    fn new(engine: Box<dyn Engine>) -> Self {
        Self {
            stage: Some(Stage::new(engine, limits())),
            model: Model::new(limits(), BEGIN.0),
            ids: HashMap::new(),
        }
    }

    fn stage(&self) -> &Stage {
        self.stage.as_ref().expect("the store is open")
    }

    fn check(&mut self, operation: &Operation) -> Result<(), TestCaseError> {
        if let Operation::Reopen = operation {
            return self.reopen();
        }
        let expected = self.model.apply(operation);
        let found = self.ask(operation);
        self.compare(operation, expected, found)
    }

    fn ask(&self, operation: &Operation) -> Outcome {
        let stage = self.stage();
        match operation.clone() {
            Operation::Create(create) => Outcome::Create(stage.create(create)),
            Operation::Append(append) => Outcome::Append(stage.append(append)),
            Operation::Delete(name) => Outcome::Delete(stage.delete(name.as_str())),
            Operation::Trim(name, before) => Outcome::Trim(stage.trim(name.as_str(), before)),
            Operation::Read(read) => {
                let target = match read.target {
                    ReadTarget::Id(id) => ReadTarget::Id(self.stored(id)),
                    by_name @ ReadTarget::Name(_) => by_name,
                };
                Outcome::Read(stage.read_page(target, read.from, read.bytes_max))
            }
            Operation::Describe(name) => Outcome::Describe(stage.describe(name.as_str())),
            Operation::Newest(name) => Outcome::Newest(stage.newest(name.as_str())),
            Operation::List(list) => Outcome::List(stage.list(list)),
            Operation::Renew(id) => {
                stage.store.renew(self.stored(id));
                Outcome::Done
            }
            Operation::Pass(millis) => {
                stage.pass(millis);
                Outcome::Done
            }
            Operation::Reopen => Outcome::Done,
        }
    }

    fn stored(&self, id: StreamId) -> StreamId {
        self.ids.get(&id).copied().unwrap_or(NO_STREAM)
    }

    /// Outcomes must be equal but for the ids, and ids must pair up one to one.
    fn compare(
        &mut self,
        operation: &Operation,
        mut expected: Outcome,
        mut found: Outcome,
    ) -> Result<(), TestCaseError> {
        let (model_ids, store_ids) = (take_ids(&mut expected), take_ids(&mut found));
        proptest::prop_assert_eq!(found, expected, "{:?}", operation);
        for (model_id, store_id) in model_ids.into_iter().zip(store_ids) {
            let used_twice =
                self.ids.iter().any(|(model, store)| *store == store_id && *model != model_id);
            let known = *self.ids.entry(model_id).or_insert(store_id);
            proptest::prop_assert!(!used_twice && known == store_id, "{:?}", operation);
        }
        Ok(())
    }

    /// A reopened store may renew what it finds, so everything is renewed in the model too.
    fn reopen(&mut self) -> Result<(), TestCaseError> {
        if self.stage().keeps_data() {
            self.stage = self.stage.take().map(Stage::reopen);
        }
        self.read_back()
    }

    /// Compares everything that there is.
    fn read_back(&mut self) -> Result<(), TestCaseError> {
        let everything = List { limit: 100, ..List::default() };
        self.check(&Operation::List(everything))?;
        for name in self.model.names() {
            let name = named(&name);
            self.check(&Operation::Read(Read {
                target: ReadTarget::Name(name.clone()),
                from: ReadFrom::Start,
                bytes_max: PAGE_BYTES,
            }))?;
            self.check(&Operation::Newest(name.clone()))?;
            self.check(&Operation::Describe(name))?;
        }
        Ok(())
    }

    /// What the observer was told adds up to what there is, without a gap.
    fn check_record(&mut self) -> Result<(), TestCaseError> {
        let told = replay(&self.stage().record.changes())?;
        for name in self.model.names() {
            let Some((id, bytes)) = self.model.history(&name) else {
                continue;
            };
            let told = told.get(&self.stored(id));
            proptest::prop_assert_eq!(told.map(Vec::as_slice), Some(bytes), "told of {}", name);
        }
        Ok(())
    }
}

/// The bytes of every stream that was told of and has not ended.
fn replay(changes: &[Change]) -> Result<HashMap<StreamId, Vec<u8>>, TestCaseError> {
    let mut streams: HashMap<StreamId, Vec<u8>> = HashMap::new();
    let unknown = |stream: &StreamId| TestCaseError::fail(format!("told of no such {stream:?}"));
    for change in changes {
        match change {
            Change::Created { stream, .. } => {
                let before = streams.insert(*stream, Vec::new());
                proptest::prop_assert!(before.is_none(), "{:?} is created twice", stream);
            }
            Change::Appended { stream, events, tail, .. } => {
                let bytes = streams.get_mut(stream).ok_or_else(|| unknown(stream))?;
                for event in events {
                    proptest::prop_assert_eq!(event.start.position(), Some(bytes.len() as u64));
                    bytes.extend_from_slice(&event.payload);
                    proptest::prop_assert_eq!(event.end.position(), Some(bytes.len() as u64));
                }
                proptest::prop_assert_eq!(tail.position(), Some(bytes.len() as u64));
            }
            Change::Ended { stream } => {
                streams.remove(stream).ok_or_else(|| unknown(stream))?;
            }
            Change::Trimmed { stream, .. } => {
                streams.get(stream).ok_or_else(|| unknown(stream))?;
            }
        }
    }
    Ok(streams)
}

/// Takes the ids out of an outcome and leaves the same one everywhere.
fn take_ids(outcome: &mut Outcome) -> Vec<StreamId> {
    let take = |id: &mut StreamId| std::mem::replace(id, NO_STREAM);
    match outcome {
        Outcome::Create(Ok(ack)) => vec![take(&mut ack.info.stream)],
        Outcome::Append(Ok(ack)) => vec![take(&mut ack.stream)],
        Outcome::Read(Ok(page)) => vec![take(&mut page.stream)],
        Outcome::Describe(Ok(info)) => vec![take(&mut info.stream)],
        Outcome::List(listing) => {
            let streams = listing.streams.iter_mut();
            streams.map(|info| take(&mut info.stream)).collect()
        }
        _ => Vec::new(),
    }
}
