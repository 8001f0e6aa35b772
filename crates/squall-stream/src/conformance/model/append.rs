//! Appends to a stream of the model.

use super::stream::ModelStream;
use crate::limits::StreamLimits;
use crate::producer::ProducerPosition;
use crate::request::{Append, AppendAck, AppendError};
use crate::store::StreamId;

/// What a producer's claim comes to.
enum Claim {
    Next,
    Repeat(ProducerPosition),
}

impl ModelStream {
    /// Takes an append, or says which rule is against it.
    pub(super) fn take(
        &mut self,
        append: &Append,
        now: u64,
        limits: &StreamLimits,
    ) -> Result<AppendAck, AppendError> {
        if self.closed {
            if !self.is_the_close(append) {
                return Err(AppendError::Closed { tail: self.tail() });
            }
            self.touch(now);
            return Ok(self.ack(true, append.producer.as_ref().map(|claim| claim.position)));
        }
        if let Some(found) = &append.content_type
            && !append.events.is_empty()
            && !self.same_type(found)
        {
            let expected = self.content_type.clone();
            return Err(AppendError::ContentTypeMismatch { expected });
        }
        if let Claim::Repeat(last) = self.weigh(append, now, limits)? {
            self.touch(now);
            return Ok(self.ack(true, Some(last)));
        }
        if let (Some(last), Some(next)) = (&self.last_seq, &append.stream_seq)
            && next.as_bytes() <= last.as_bytes()
        {
            return Err(AppendError::SequenceNotGreater { last: last.clone() });
        }
        self.store(append, now, limits);
        Ok(self.ack(false, append.producer.as_ref().map(|claim| claim.position)))
    }

    /// Whether this asks again for the close that happened.
    fn is_the_close(&self, append: &Append) -> bool {
        let Some(claim) = &append.producer else {
            return append.close && append.events.is_empty();
        };
        let who = claim.id.as_str().to_owned();
        let asked = (who, claim.position.epoch, claim.position.seq);
        append.close && self.closed_by == Some(asked)
    }

    fn weigh(
        &self,
        append: &Append,
        now: u64,
        limits: &StreamLimits,
    ) -> Result<Claim, AppendError> {
        let Some(claim) = &append.producer else {
            return Ok(Claim::Next);
        };
        let ProducerPosition { epoch, seq } = claim.position;
        let gap = |expected| AppendError::ProducerGap { expected, received: seq };
        let Some(&(last_epoch, last_seq, _)) = self.producers.get(claim.id.as_str()) else {
            return match (seq, self.room_for_one(now, limits)) {
                (0, true) => Ok(Claim::Next),
                (0, false) => Err(AppendError::ProducersFull { max: limits.producers_max }),
                _ => Err(gap(0)),
            };
        };
        let last = ProducerPosition { epoch: last_epoch, seq: last_seq };
        match (epoch.cmp(&last_epoch), seq) {
            (std::cmp::Ordering::Less, _) => Err(AppendError::ProducerFenced { epoch: last_epoch }),
            (std::cmp::Ordering::Greater, 0) => Ok(Claim::Next),
            (std::cmp::Ordering::Greater, _) => Err(AppendError::ProducerEpochMustStartAtZero),
            (std::cmp::Ordering::Equal, seq) if seq == last_seq + 1 => Ok(Claim::Next),
            (std::cmp::Ordering::Equal, seq) if seq > last_seq => Err(gap(last_seq + 1)),
            (std::cmp::Ordering::Equal, _) => Ok(Claim::Repeat(last)),
        }
    }

    fn room_for_one(&self, now: u64, limits: &StreamLimits) -> bool {
        let max = limits.producers_max as usize;
        let busy = |used: u64| now.saturating_sub(used) < limits.producer_idle_max_ms;
        let all_busy = self.producers.values().all(|(.., used)| busy(*used));
        self.producers.len() < max || (max > 0 && !all_busy)
    }

    /// Stores an append that no rule is against.
    fn store(&mut self, append: &Append, now: u64, limits: &StreamLimits) {
        let when = now.max(self.appended);
        for payload in &append.events {
            self.push(payload);
        }
        if let Some(claim) = &append.producer {
            let id = claim.id.as_str();
            let is_new = !self.producers.contains_key(id);
            if is_new && self.producers.len() >= limits.producers_max as usize {
                let idle = limits.producer_idle_max_ms;
                self.producers.retain(|_, (.., used)| now.saturating_sub(*used) < idle);
            }
            let ProducerPosition { epoch, seq } = claim.position;
            self.producers.insert(id.to_owned(), (epoch, seq, when));
            if append.close {
                self.closed_by = Some((id.to_owned(), epoch, seq));
            }
        }
        if let Some(seq) = &append.stream_seq {
            self.last_seq = Some(seq.clone());
        }
        self.closed = append.close;
        self.appended = when;
        self.touch(when);
    }

    fn ack(&self, duplicate: bool, producer: Option<ProducerPosition>) -> AppendAck {
        AppendAck {
            stream: StreamId(self.serial),
            tail: self.tail(),
            closed: self.closed,
            duplicate,
            producer,
        }
    }
}
