//! Carries changes out: asks the machine, writes the rows, and notes what to report.
//!
//! Each function returns the answer for its caller, kept back until the batch is durable,
//! or the trouble that undoes the batch.

use std::mem;

use squall_stream::machine::{
    AppendDecision, AppendPlan, CreateDecision, StreamState, decide_append, decide_create,
    plan_create, resolve_trim,
};
use squall_stream::observer::Change;
use squall_stream::producer::ProducerClaim;
use squall_stream::request::{
    Append, AppendAck, AppendError, Create, CreateAck, CreateError, StreamError,
};
use squall_stream::store::StreamId;
use squall_stream::{ContentType, Expiry, Offset, StreamName, UnixMillis};

use crate::committer::Committer;
use crate::committer::producers::decide_without_idle;
use crate::committer::states::Changed;
use crate::job::{Job, Trim};
use crate::trouble::Trouble;

impl Committer<'_> {
    /// Decides a job and writes what it changes.
    pub(super) fn carry_out(&mut self, job: &mut Job, now: UnixMillis) -> Result<(), Trouble> {
        match job {
            Job::Append(ticket) => ticket.outcome = Some(self.append(&ticket.request, now)?),
            Job::Create(ticket) => ticket.outcome = Some(self.create(&ticket.request, now)?),
            Job::Delete(ticket) => ticket.outcome = Some(self.delete(&ticket.request, now)?),
            Job::Trim(ticket) => ticket.outcome = Some(self.trim(&ticket.request, now)?),
        }
        Ok(())
    }

    fn append(
        &mut self,
        append: &Append,
        now: UnixMillis,
    ) -> Result<Result<AppendAck, AppendError>, Trouble> {
        let slot = self.states.touch(&append.name, &mut self.writer, self.shared)?;
        let Some(state) = slot.alive(self.shared, now) else {
            return self.append_to_none(append, now);
        };
        let known = match &append.producer {
            Some(claim) => self.writer.producer(state.stream, &claim.id)?,
            None => None,
        };
        let decision = decide_append(Some(state), known.as_ref(), append, now, &self.limits);
        let decision = match decision {
            Err(AppendError::ProducersFull { .. }) => {
                let writer = &mut self.writer;
                decide_without_idle(slot, writer, append, now, &self.limits)?
            }
            decision => decision,
        };
        match decision {
            Err(error) => Ok(Err(error)),
            // A reader may have found it over meanwhile.
            Ok(_) if !slot.claim(self.shared, now) => self.append_to_none(append, now),
            Ok(AppendDecision::Stands(ack)) => Ok(Ok(ack)),
            Ok(AppendDecision::Store(plan)) => {
                let ack = plan.ack.clone();
                self.store(&append.name, append.producer.as_ref(), plan)?;
                Ok(Ok(ack))
            }
        }
    }

    fn append_to_none(
        &mut self,
        append: &Append,
        now: UnixMillis,
    ) -> Result<Result<AppendAck, AppendError>, Trouble> {
        match append.create {
            true => self.append_to_new(append, now),
            false => Ok(Err(AppendError::NotFound)),
        }
    }

    /// Makes the stream that an append asks for, if the append itself is in order.
    fn append_to_new(
        &mut self,
        append: &Append,
        now: UnixMillis,
    ) -> Result<Result<AppendAck, AppendError>, Trouble> {
        let content_type = append.content_type.clone();
        let content_type = content_type.unwrap_or_else(ContentType::octet_stream);
        let mut state = StreamState::new(StreamId(0), content_type, Expiry::Never, now);
        let plan = match decide_append(Some(&state), None, append, now, &self.limits) {
            Err(error) => return Ok(Err(error)),
            Ok(AppendDecision::Stands(ack)) => return Ok(Ok(ack)),
            Ok(AppendDecision::Store(plan)) => plan,
        };
        state.stream = self.make(&append.name, state.clone())?;
        let ack = AppendAck { stream: state.stream, ..plan.ack.clone() };
        self.store(&append.name, append.producer.as_ref(), plan)?;
        Ok(Ok(ack))
    }

    fn create(
        &mut self,
        create: &Create,
        now: UnixMillis,
    ) -> Result<Result<CreateAck, CreateError>, Trouble> {
        let slot = self.states.touch(&create.name, &mut self.writer, self.shared)?;
        let state = slot.alive(self.shared, now);
        match (decide_create(state, create, now), state) {
            (Err(error), _) => return Ok(Err(error)),
            (Ok(CreateDecision::Stands), Some(state)) if slot.claim(self.shared, now) => {
                let info = state.info(create.name.clone());
                return Ok(Ok(CreateAck { created: false, info }));
            }
            (Ok(_), _) => {}
        }
        let (state, plan) = match plan_create(create, StreamId(0), now) {
            Ok(planned) => planned,
            Err(error) => return Ok(Err(error)),
        };
        let mut after = state.clone();
        after.stream = self.make(&create.name, state)?;
        if let Some(plan) = plan {
            after.apply(&plan);
            self.store(&create.name, None, plan)?;
        }
        let info = after.info(create.name.clone());
        Ok(Ok(CreateAck { created: true, info }))
    }

    fn delete(
        &mut self,
        name: &StreamName,
        now: UnixMillis,
    ) -> Result<Result<(), StreamError>, Trouble> {
        let slot = self.states.touch(name, &mut self.writer, self.shared)?;
        if slot.alive(self.shared, now).is_none() {
            return Ok(Err(StreamError::NotFound));
        }
        self.end(name)?;
        Ok(Ok(()))
    }

    fn trim(
        &mut self,
        trim: &Trim,
        now: UnixMillis,
    ) -> Result<Result<Offset, StreamError>, Trouble> {
        let slot = self.states.touch(&trim.name, &mut self.writer, self.shared)?;
        let Some(state) = slot.alive(self.shared, now) else {
            return Ok(Err(StreamError::NotFound));
        };
        let (stream, earliest) = (state.stream, state.earliest);
        let up_to = resolve_trim(state, trim.before);
        self.writer.index_events()?;
        let cut = self.writer.events.within(stream, earliest, up_to)?;
        let Some((gone, cut)) = cut else {
            return Ok(Ok(Offset::at(earliest)));
        };
        self.writer.mark_purge(stream, cut)?;
        if let Some(state) = &mut slot.working {
            state.earliest = cut;
            state.events = state.events.saturating_sub(gone);
            if state.events == 0 {
                slot.newest = None;
            }
        }
        slot.note(Changed::All);
        slot.appended = None;
        let earliest = Offset::at(cut);
        self.changes.push(Change::Trimmed { stream, earliest });
        Ok(Ok(earliest))
    }

    /// Gives a name to a new stream, and ends the one that had expired under it.
    fn make(&mut self, name: &StreamName, mut state: StreamState) -> Result<StreamId, Trouble> {
        self.end(name)?;
        let stream = self.writer.insert_stream(name, &state)?;
        state.stream = stream;
        let slot = self.states.touch(name, &mut self.writer, self.shared)?;
        slot.working = Some(state);
        slot.note(Changed::Tail);
        let name = name.clone();
        self.changes.push(Change::Created { stream, name });
        Ok(stream)
    }

    /// Ends the stream of this name, if there is one.
    pub(super) fn end(&mut self, name: &StreamName) -> Result<(), Trouble> {
        let slot = self.states.touch(name, &mut self.writer, self.shared)?;
        let Some(state) = slot.working.take() else {
            return Ok(());
        };
        slot.note(Changed::Ended);
        (slot.appended, slot.newest) = (None, None);
        slot.no_idle_producer_before = UnixMillis(0);
        let stream = state.stream;
        self.writer.delete_stream(stream)?;
        self.ended.push(stream);
        self.changes.push(Change::Ended { stream });
        Ok(())
    }

    /// Writes what an append adds, and notes it for the observer.
    fn store(
        &mut self,
        name: &StreamName,
        claim: Option<&ProducerClaim>,
        mut plan: AppendPlan,
    ) -> Result<(), Trouble> {
        let slot = self.states.touch(name, &mut self.writer, self.shared)?;
        let Some(state) = &mut slot.working else {
            return Err(Trouble::Logic(format!("{name} ended while it was written")));
        };
        let stream = state.stream;
        for event in &plan.events {
            self.writer.insert_event(stream, event, plan.appended_at)?;
            self.event_bytes += event.payload.len() as u64;
        }
        self.events += plan.events.len() as u64;
        if let (Some(claim), Some(producer)) = (claim, &plan.producer) {
            self.writer.upsert_producer(stream, &claim.id, producer)?;
        }
        state.apply(&plan);
        let (tail, closed) = (state.tail_offset(), state.closing.is_some());
        let only_tail = plan.closing.is_none() && plan.stream_seq.is_none() && !plan.new_producer;
        slot.note(if only_tail { Changed::Tail } else { Changed::All });
        if let Some(newest) = plan.events.last() {
            slot.newest = Some(newest.payload.clone());
        }
        let mut added = mem::take(&mut plan.events);
        let before = slot.appended.and_then(|at| self.changes.get_mut(at));
        if let Some(Change::Appended { events, tail: last_tail, closed: last_closed, .. }) = before
        {
            events.append(&mut added);
            (*last_tail, *last_closed) = (tail, closed);
            return Ok(());
        }
        slot.appended = Some(self.changes.len());
        self.changes.push(Change::Appended { stream, events: added, tail, closed });
        Ok(())
    }
}
