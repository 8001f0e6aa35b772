//! One stream in memory: its state, its events and its producers.

use std::collections::{HashMap, VecDeque};

use crate::event::Event;
use crate::instant::UnixMillis;
use crate::limits::StreamLimits;
use crate::machine::{AppendDecision, AppendPlan, StreamState, decide_append, resolve_trim};
use crate::name::StreamName;
use crate::observer::Change;
use crate::offset::Offset;
use crate::producer::{ProducerClaim, ProducerId, ProducerState};
use crate::request::{Append, AppendAck, AppendError, Newest, StreamInfo};

/// One stream with everything in it.
pub(super) struct Stream {
    pub(super) name: StreamName,
    pub(super) state: StreamState,
    pub(super) events: VecDeque<Event>,
    producers: HashMap<ProducerId, ProducerState>,
}

impl Stream {
    pub(super) fn new(name: StreamName, state: StreamState) -> Self {
        Self { name, state, events: VecDeque::new(), producers: HashMap::new() }
    }

    pub(super) fn info(&self) -> StreamInfo {
        self.state.info(self.name.clone())
    }

    pub(super) fn newest(&self) -> Option<Newest> {
        self.events.back().map(|event| Newest {
            content_type: self.state.content_type.clone(),
            payload: event.payload.clone(),
        })
    }

    /// Decides an append and carries it out. No change is returned if nothing was stored.
    pub(super) fn append(
        &mut self,
        append: &Append,
        now: UnixMillis,
        limits: &StreamLimits,
    ) -> Result<(AppendAck, Option<Change>), AppendError> {
        let claim = append.producer.as_ref();
        let known = claim.and_then(|claim| self.producers.get(&claim.id));
        let mut decision = decide_append(Some(&self.state), known, append, now, limits);
        if matches!(decision, Err(AppendError::ProducersFull { .. })) {
            let state = self.without_idle_producers(now, limits);
            decision = decide_append(Some(&state), None, append, now, limits);
            if matches!(decision, Ok(AppendDecision::Store(_))) {
                self.producers.retain(|_, known| !known.is_idle(now, limits));
                self.state = state;
            }
        }
        match decision? {
            AppendDecision::Stands(ack) => {
                self.state.renew(now);
                Ok((ack, None))
            }
            AppendDecision::Store(plan) => {
                let ack = plan.ack.clone();
                Ok((ack, Some(self.apply(claim, plan))))
            }
        }
    }

    /// The state as it would be if idle producers were forgotten.
    fn without_idle_producers(&self, now: UnixMillis, limits: &StreamLimits) -> StreamState {
        let known = self.producers.values();
        let idle = known.filter(|known| known.is_idle(now, limits)).count();
        let idle = u32::try_from(idle).unwrap_or(u32::MAX);
        let mut state = self.state.clone();
        state.producers = state.producers.saturating_sub(idle);
        state
    }

    /// Carries out a plan made for this stream.
    pub(super) fn apply(&mut self, claim: Option<&ProducerClaim>, plan: AppendPlan) -> Change {
        self.state.apply(&plan);
        if let (Some(claim), Some(producer)) = (claim, plan.producer) {
            self.producers.insert(claim.id.clone(), producer);
        }
        self.events.extend(plan.events.iter().cloned());
        Change::Appended {
            stream: self.state.stream,
            events: plan.events,
            tail: self.state.tail_offset(),
            closed: self.state.closing.is_some(),
        }
    }

    /// Gives up whole events before `before`. No change is returned if there are none.
    pub(super) fn trim(&mut self, before: Offset) -> (Offset, Option<Change>) {
        let before = Offset::at(resolve_trim(&self.state, before));
        let gone = self.events.partition_point(|event| event.end <= before);
        if gone == 0 {
            return (Offset::at(self.state.earliest), None);
        }
        self.events.drain(..gone);
        let first = self.events.front().and_then(|event| event.start.position());
        self.state.earliest = first.unwrap_or(self.state.tail);
        self.state.events = self.events.len() as u64;
        let earliest = Offset::at(self.state.earliest);
        let stream = self.state.stream;
        (earliest, Some(Change::Trimmed { stream, earliest }))
    }
}
